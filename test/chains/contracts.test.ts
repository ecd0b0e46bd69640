import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { artefactFiles } from '../../contracts/build.ts';

const directory = new URL('../../contracts/artefacts/', import.meta.url);

test('the checked-in artefacts rebuild byte for byte', { tags: ['thorough'], timeout: 60_000 }, () => {
  const built = artefactFiles();
  expect(readdirSync(directory).sort()).toEqual([...built.keys()].sort());
  for (const [name, text] of built) expect(readFileSync(new URL(name, directory), 'utf8')).toBe(text);
});
