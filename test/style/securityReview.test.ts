import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allFiles } from './sourceTree.ts';

const review = allFiles.find(({ path }) => path === 'docs/security-review.md')!.text;
const textOf = new Map(allFiles.map(({ path, text }) => [path, text]));
const exists = (path: string): boolean => existsSync(new URL(`../../${path}`, import.meta.url));

const verdicts = ['met', 'not applicable', 'gap'] as const;
type Item = { readonly id: string; readonly ask: string; readonly verdict: string; readonly where: string };
const items: readonly Item[] = [
  ...review.matchAll(/^\| ((?:V\d+\.\d+\.\d+)|(?:API\d+)|(?:F\d+)) \| (.+?) \| (.+?) \| (.+) \|$/gm),
].map(([, id, ask, verdict, where]) => ({ id: id!, ask: ask!, verdict: verdict!, where: where! }));

/** How many requirements of levels 1 and 2 each chapter of ASVS 5.0 has. */
const chapters = [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7];

const isPath = (word: string): boolean => /^[\w.-]+(?:\/[\w.-]+)+$|^[\w-]+\.(?:md|json)$/.test(word);
/** Names that look like files of the repository. This one lies in the data directory. */
const elsewhere = ['audit-heads.json'];
const paths = [...review.matchAll(/`([^`]+)`/g)].map(([, word]) => word!).filter(isPath);

/** A file and the names in brackets after it. */
const named = [...review.matchAll(/`([^`]+)` \((`[^)]+`)\)/g)]
  .map(([, path, names]) => ({ path: path!, names: [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!) }))
  .filter(({ path }) => isPath(path));

/** As a word of its own: the rest of a longer name is another function. */
const hasName = (text: string, name: string): boolean =>
  text.split(name).some((before, at, parts) => {
    const after = parts[at + 1];
    return after !== undefined && !/[\w$]$/.test(before) && !/^[\w$]/.test(after);
  });

describe('the security review', () => {
  test.each(chapters.map((count, index) => [`V${index + 1}`, count] as const))('has chapter %s', (chapter, count) => {
    const own = items.filter(({ id }) => id.startsWith(`${chapter}.`)).map(({ id }) => id);
    expect(review).toContain(`\n## ${chapter} `);
    expect(new Set(own).size).toBe(own.length);
    expect(own.length).toBe(count);
  });

  test('has API1 to API10', () => {
    const ids = items.map(({ id }) => id).filter(id => id.startsWith('API'));
    expect(ids).toEqual(Array.from({ length: 10 }, (_, index) => `API${index + 1}`));
  });

  test('gives each item one of three verdicts', () => {
    const others = items.filter(({ verdict }) => !(verdicts as readonly string[]).includes(verdict));
    expect(others).toEqual([]);
  });

  test('says of each gap what would be needed', () => {
    const silent = items.filter(({ verdict, where }) => verdict === 'gap' && !/\*[A-Z][^*]+\.\*$/.test(where));
    expect(silent.map(({ id }) => id)).toEqual([]);
  });

  test('lists all gaps in its summary, and no others', () => {
    const listed = [...review.matchAll(/^- ((?:V|API|F)[\d.]+: .+)$/gm)].map(([, line]) => line!);
    const gaps = items.filter(({ verdict }) => verdict === 'gap');
    expect(listed).toEqual(gaps.map(({ id, ask }) => `${id}: ${ask}`));
  });

  test.each([
    ['ASVS 5.0, levels 1 and 2', 'V'],
    ['API Security Top 10', 'API'],
    ['Beyond the lists', 'F'],
  ])('counts the verdicts of: %s', (list, prefix) => {
    const own = items.filter(({ id }) => id.startsWith(prefix));
    const counts = verdicts.map(verdict => own.filter(item => item.verdict === verdict).length);
    expect(review).toContain(`| ${list} | ${counts.join(' | ')} |`);
  });

  test('names files that exist', () => {
    expect(paths.length).toBeGreaterThan(200);
    expect(paths.filter(path => !elsewhere.includes(path) && !exists(path))).toEqual([]);
  });

  test('names no file outside of a path in backticks, so that each is looked for', () => {
    const bare = review
      .replaceAll(/`[^`]*`/g, '')
      .match(/\b(?:src|test|docs|web|deploy|contracts|bench|bin)\/[\w./-]+/g);
    expect((bare ?? []).filter(path => !exists(path))).toEqual([]);
    const unclear = [...review.matchAll(/`([^`]+)`/g)].map(([, word]) => word!).filter(word => /\.tsx?\b/.test(word));
    expect(unclear.filter(word => !isPath(word))).toEqual([]);
  });

  test('names parts of documents that are there, as a heading, a beginning in bold or a subject', () => {
    const parts = [...review.matchAll(/`([\w./-]+\.md)` \(([a-z][^`()]*)\)/g)].flatMap(([, path, names]) =>
      names!.split(', ').map(name => ({ path: path!, name })),
    );
    expect(parts.length).toBeGreaterThan(10);
    const missing = parts.filter(({ path, name }) => !textOf.get(path)?.toLowerCase().includes(name.toLowerCase()));
    expect(missing).toEqual([]);
  });

  test('names functions that are in their files', () => {
    expect(named.length).toBeGreaterThan(80);
    const missing = named.flatMap(({ path, names }) =>
      names.filter(name => !hasName(textOf.get(path) ?? '', name)).map(name => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });
});
