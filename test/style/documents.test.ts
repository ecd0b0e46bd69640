import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allFiles, type SourceFile, sourceFiles } from './sourceTree.ts';

const documents = allFiles.filter(({ path }) => path.endsWith('.md'));
const byPath = new Map(allFiles.map(file => [file.path, file]));
const exists = (path: string): boolean => existsSync(new URL(`../../${path}`, import.meta.url));

/** Links and headings inside code are examples. */
const proseOf = ({ text }: SourceFile): string => text.replace(/^```.*?^```$/gms, '');

/** As GitHub names the heading of a section. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsIn = (file: SourceFile): string[] =>
  [...proseOf(file).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));

const linksIn = (file: SourceFile): string[] =>
  [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!).filter(link => !/^[a-z]+:/.test(link));

const brokenLink = (file: SourceFile, link: string): boolean => {
  const [path, anchor] = link.split('#') as [string, string?];
  const target = path === '' ? file.path : posix.join(posix.dirname(file.path), path);
  if (!exists(target)) return true;
  const page = byPath.get(target);
  return anchor !== undefined && !(page && anchorsIn(page).includes(anchor));
};

/** Words in code marks that name a file of ours, with or without src/ and the ending. */
const filesNamedIn = (file: SourceFile): string[] =>
  [
    ...proseOf(file).matchAll(/`((?:src|web|test|contracts|bench|core|chains|engine|storage|http|workers)\/[\w./]+)`/g),
  ].map(([, name]) => name!);

/** Each table of a page: its rows, without the line under the heading. */
const tablesIn = (file: SourceFile): string[][] =>
  [...proseOf(file).matchAll(/(?:^\|.*\n?)+/gm)].map(([table]) => table.trimEnd().split('\n'));

/** The first cell. One without text is that of a heading, or of a group of rows. */
const nameOf = (row: string): string => row.split(' | ')[0]!.replace(/^\|\s*/, '');

describe.each(documents.map(file => [file.path, file] as const))('%s', (_, file) => {
  test('links to files and headings that exist', () => {
    expect(linksIn(file).filter(link => brokenLink(file, link))).toEqual([]);
  });

  test('has tables with a heading, and no row twice', () => {
    const tables = tablesIn(file);
    expect(tables.filter(([, line]) => !/^\|[\s:|-]+$/.test(line ?? '')).map(([first]) => first)).toEqual([]);
    const twice = tables.flatMap(([, , ...rows]) => {
      const names = rows.map(nameOf).filter(name => name.startsWith('`npx ') || name.startsWith('`npm '));
      return names.filter((name, at) => names.indexOf(name) !== at);
    });
    expect(twice).toEqual([]);
  });

  test('names files that exist', () => {
    const spellings = (name: string): string[] =>
      ['', 'src/'].flatMap(room => ['', '.ts'].map(ending => `${room}${name}${ending}`));
    expect(filesNamedIn(file).filter(name => !spellings(name).some(exists))).toEqual([]);
  });
});

test('the operating guide quotes log messages that Florin writes', () => {
  const guide = byPath.get('docs/operating.md')!.text;
  const section = guide.slice(guide.indexOf('**Log messages**'));
  const cells = [...section.matchAll(/^\| (`.+?) \|/gm)].map(([, cell]) => cell!);
  const messages = cells.flatMap(cell => [...cell.matchAll(/`([a-z][^`]*)`/g)].map(([, message]) => message!));
  const written = (message: string): boolean => sourceFiles.some(({ text }) => text.includes(`'${message}'`));
  expect(messages.length).toBeGreaterThan(10);
  expect(messages.filter(message => !written(message))).toEqual([]);
});
