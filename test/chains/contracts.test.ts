import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { artefactFiles } from '../../contracts/build.ts';

const directory = new URL('../../contracts/', import.meta.url);

test('the checked-in artefacts rebuild byte for byte', { tags: ['thorough'], timeout: 60_000 }, () => {
  const built = artefactFiles();
  const present = readdirSync(new URL('artefacts/', directory)).map(name => `artefacts/${name}`);
  expect([...present, 'test/artefacts.json'].sort()).toEqual([...built.keys()].sort());
  for (const [path, text] of built) expect(readFileSync(new URL(path, directory), 'utf8')).toBe(text);
});
