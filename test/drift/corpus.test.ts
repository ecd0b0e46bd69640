// @module-tag thorough
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { differencesOf } from '../corpus/answersFile.ts';
import { recordCorpus } from '../corpus/recordCorpus.ts';

const file = '../corpus/answers.txt';
/** More than a thousand requests, one after the other: ten seconds alone, fifty on a machine that does much else. */
const timeoutMs = 180_000;

test('every answer is byte for byte the one in test/corpus/answers.txt', { timeout: timeoutMs }, async () => {
  const text = await recordCorpus();
  try {
    await expect(text).toMatchFileSnapshot(file);
  } catch (error) {
    // The difference of two large files is hard to read. The first request that differs is not.
    const differences = differencesOf(await readFile(new URL(file, import.meta.url), 'utf8'), text);
    const [first] = differences;
    if (!first) throw error;
    const names = differences.map(({ name }) => name).join('\n');
    expect(first.found, `${first.name}; if this is intended, run npm run generate. All that differ:\n${names}`).toBe(
      first.expected,
    );
  }
});
