import ts from 'typescript';
import { expect, test } from 'vitest';
import { at, codeFiles, eachNode, importsOf, lineOf, parse } from './sourceTree.ts';

const typed = codeFiles.filter(file => /^(?:src|test|web|bench|contracts)\/.*\.tsx?$/.test(file.path));

/** What an arrow cannot be: a generator, a function with overloads, and one that asserts. */
const isNeeded = (node: ts.FunctionDeclaration | ts.FunctionExpression): boolean =>
  node.asteriskToken !== undefined ||
  node.body === undefined ||
  (node.type !== undefined && ts.isTypePredicateNode(node.type) && node.type.assertsModifier !== undefined);

test('functions are arrows wherever they can be', () => {
  // Parsing all of them takes seconds, and few have the word.
  const having = typed.filter(file => /\bfunction\b/.test(file.text));
  const found = having.flatMap(file => {
    const lines: string[] = [];
    eachNode(parse(file), node => {
      const isFunction = ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node);
      if (isFunction && !isNeeded(node)) lines.push(at(file, lineOf(node)));
    });
    return lines;
  });
  expect(found).toEqual([]);
});

test('tests are called test', () => {
  const found = typed.filter(
    file =>
      /\bit\b[^']*from 'vitest'/.test(file.text) &&
      importsOf(file).some(({ specifier, names }) => specifier === 'vitest' && names.includes('it')),
  );
  expect(found.map(file => file.path)).toEqual([]);
});

test('tests wait by test/support/until.ts alone', () => {
  const found = typed.filter(file => /\bvi\.wait(?:For|Until)\b/.test(file.text));
  expect(found.map(file => file.path)).toEqual(['test/support/until.ts']);
});

test('every file of test/browser has the tag that skips it where there is no browser', () => {
  const pages = typed.filter(file => /^test\/browser\/.*\.test\.ts$/.test(file.path));
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter(file => !file.text.startsWith('// @module-tag browser\n')).map(file => file.path)).toEqual([]);
});
