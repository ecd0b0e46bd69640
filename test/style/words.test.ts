import ts from 'typescript';
import { expect, test } from 'vitest';
import { allFiles, at, codeFiles, eachNode, lineOf, parse, type SourceFile, sourceFiles } from './sourceTree.ts';

const matches = (files: readonly SourceFile[], pattern: RegExp): string[] =>
  files.flatMap(file =>
    file.text
      .split('\n')
      .flatMap((text, index) => (pattern.test(text) ? [`${at(file, index + 1)} ${text.trim()}`] : [])),
  );

/** This file contains the words that it searches for. */
const self = 'test/style/words.test.ts';
const others = (files: readonly SourceFile[]): SourceFile[] => files.filter(file => file.path !== self);

test('no file has a name that says nothing', () => {
  const empty =
    /(?:^|\/)(?:utils?|helpers?|types|common|misc|manager|index)(?:\.test)?(?:\.[a-z]+$|\/)|(?:Manager|Utils?|Helpers?)\.ts$/;
  expect(codeFiles.map(file => file.path).filter(path => empty.test(path))).toEqual([]);
});

test('files of code are named in camelCase', () => {
  const wrong = codeFiles.map(file => file.path).filter(path => !/\/[a-z][a-zA-Z0-9]*(?:\.[a-z]+)+$/.test(`/${path}`));
  expect(wrong).toEqual([]);
});

test('no file only passes on what others export', () => {
  const having = sourceFiles.filter(file => /^export [^=]* from /m.test(file.text));
  const barrels = having.filter(file =>
    parse(file).statements.some(s => ts.isExportDeclaration(s) && s.moduleSpecifier),
  );
  expect(barrels.map(file => file.path)).toEqual([]);
});

test('nothing is left for later or silenced', () => {
  expect(matches(others(codeFiles), /\b(?:TODO|FIXME|XXX|HACK)\b|@ts-(?:ignore|expect-error|nocheck)/)).toEqual([]);
});

test('src has no any', () => {
  const having = sourceFiles.filter(file => /\bany\b/.test(file.text));
  const found = having.flatMap(file => {
    const lines: string[] = [];
    eachNode(parse(file), node => {
      if (node.kind === ts.SyntaxKind.AnyKeyword) lines.push(at(file, lineOf(node)));
    });
    return lines;
  });
  expect(found).toEqual([]);
});

test('only src/cli/config.ts reads the environment', () => {
  const rest = sourceFiles.filter(file => file.path !== 'src/cli/config.ts');
  expect(matches(rest, /process\.env\b/)).toEqual([]);
});

test('core has no clock and no randomness', () => {
  const core = sourceFiles.filter(file => file.path.startsWith('src/core/'));
  const impure =
    /\bDate\.now\b|\bMath\.random\b|\bnew Date\(\)|\bperformance\b|\bcrypto\b|\bprocess\b|\bset(?:Timeout|Interval|Immediate)\b/;
  const isComment = /^\s*(?:\/?\*|\/\/)/;
  const code = core.map(file => ({
    ...file,
    text: file.text
      .split('\n')
      .map(line => (isComment.test(line) ? '' : line))
      .join('\n'),
  }));
  expect(matches(code, impure)).toEqual([]);
});

test('SQL is written in one room', () => {
  const elsewhere = sourceFiles.filter(file => !file.path.startsWith('src/storage/'));
  const sql = /[`']\s*(?:with \w+ as|select .+ from|insert into|update \w+ set|delete from|create table)\b/i;
  expect(matches(elsewhere, sql)).toEqual([]);
});

test('prepared names are used once', () => {
  const names = sourceFiles
    .filter(file => file.path.startsWith('src/storage/'))
    .flatMap(file => [...file.text.matchAll(/\bname: '([a-z-]+)',?\s+text:/g)].map(match => match[1]!));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('no focused or skipped test is left behind', () => {
  const tests = codeFiles.filter(file => file.path.startsWith('test/'));
  expect(matches(others(tests), /\b(?:test|it|describe)\.(?:only|skip|todo)\b/)).toEqual([]);
});

test('tests do not sleep and are not retried', () => {
  const tests = codeFiles.filter(file => /^test\/.*\.test\.ts$/.test(file.path));
  expect(matches(others(tests), /\bretry: [1-9]|\bsleep\(/)).toEqual([]);
});

test('texts speak of Florin alone: no tickets, no paths of one machine', () => {
  const foreign = /\bissues? #?\d+\b|(?<![\w.])\/(?:work|home|root|Users)\/[a-z]/i;
  expect(
    matches(
      others(allFiles).filter(file => file.path !== 'package-lock.json'),
      foreign,
    ),
  ).toEqual([]);
});
