import { readFileSync } from 'node:fs';
import type { Artefact } from '../../contracts/build.ts';

/** The contracts of contracts/test by name, as `node contracts/build.ts` compiled them. */
export const testContracts = new Map(
  Object.entries(
    JSON.parse(readFileSync(new URL('../../contracts/test/artefacts.json', import.meta.url), 'utf8')) as Record<
      string,
      Artefact
    >,
  ),
);
