import ts from 'typescript';
import { expect, test } from 'vitest';
import { allFiles, at, codeFiles, lineOf, parse, type SourceFile, sourceFiles } from './sourceTree.ts';

const longestFile = 300;
const longestFileEver = 500;
const longestFunction = 70;

/** Longer than the rule, each with a reason a reader would accept. */
const longFiles: Readonly<Record<string, string>> = {
  'src/cli/settings.ts': 'an entry for each setting',
  'test/campaigns/alerts/causes.ts': 'a cause for each alert',
  'test/cli/config.test.ts': 'a case for each setting and each contradiction',
  'test/engine/branches.test.ts': 'a case for each way to put back an orphaned block',
  'test/metrics/alertCases.ts': 'a case for each alert',
};

const longFunctions: Readonly<Record<string, string>> = {};

const measured = [...codeFiles, ...allFiles.filter(file => /\.(?:sql|sol)$/.test(file.path))];

test(`files have at most ${longestFile} lines, or a reason`, () => {
  const long = measured.filter(file => file.lines > longestFile && !(file.path in longFiles));
  expect(long.map(file => `${file.path} ${file.lines}`)).toEqual([]);
});

test(`no file has more than ${longestFileEver} lines, whatever the reason`, () => {
  expect(measured.filter(file => file.lines > longestFileEver).map(file => file.path)).toEqual([]);
});

test('reasons are kept for long files only', () => {
  const short = Object.keys(longFiles).filter(
    path => !measured.some(file => file.path === path && file.lines > longestFile),
  );
  expect(short).toEqual([]);
});

const nameOf = (node: ts.Node): string => {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return node.name?.getText() ?? 'default';
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText();
  return 'anonymous';
};

type Measured = { readonly name: string; readonly line: number; readonly lines: number };

const isFunctionWithBody = (node: ts.Node): boolean => ts.isFunctionLike(node) && 'body' in node && Boolean(node.body);

/**
 * Lines of inner functions do not count towards the outer one: the functions that a factory returns are measured by
 * themselves.
 */
const functionsOf = (file: SourceFile): Measured[] => {
  const tree = parse(file);
  const found: Measured[] = [];
  const lastLineOf = (node: ts.Node): number => tree.getLineAndCharacterOfPosition(node.getEnd()).line + 1;
  /** Returns how many lines of this node belong to functions inside it. */
  const measure = (node: ts.Node): number => {
    let inner = 0;
    ts.forEachChild(node, child => {
      inner += measure(child);
    });
    if (!isFunctionWithBody(node)) return inner;
    const all = lastLineOf(node) - lineOf(node) + 1;
    found.push({ name: nameOf(node), line: lineOf(node), lines: all - inner });
    // The first line is shared with the function outside.
    return all - 1;
  };
  measure(tree);
  return found;
};

test(`functions have at most ${longestFunction} lines of their own, or a reason`, () => {
  const long = sourceFiles.flatMap(file =>
    functionsOf(file)
      .filter(({ name, lines }) => lines > longestFunction && !(`${file.path} ${name}` in longFunctions))
      .map(({ name, line, lines }) => `${at(file, line)} ${name} ${lines}`),
  );
  expect(long).toEqual([]);
});
