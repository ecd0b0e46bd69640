import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../../', import.meta.url));
const skipped = new Set(['node_modules', '.git', 'data', 'coverage', 'artefacts', 'built']);

export type SourceFile = {
  /** From the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
};

export type Import = { readonly specifier: string; readonly names: readonly string[]; readonly line: number };

const walk = (folder: string): string[] =>
  readdirSync(folder).flatMap(name => {
    if (skipped.has(name)) return [];
    const path = join(folder, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
  });

const read = (path: string): SourceFile => {
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  return { path: relative(root, path).replaceAll('\\', '/'), text, lines };
};

const ours = /^(?:\.ci|bench|bin|contracts|deploy|docs|recovery|src|test|web)\/|^[^/]+$/;
const binary = /\.(?:png|ico|woff2?|bin)$/;

/** Every file that people write here. */
export const allFiles: readonly SourceFile[] = walk(root)
  .filter(path => ours.test(relative(root, path).replaceAll('\\', '/')) && !binary.test(path))
  .map(read);

export const codeFiles = allFiles.filter(file => /\.(?:tsx?|js|mjs)$/.test(file.path));
export const sourceFiles = codeFiles.filter(file => file.path.startsWith('src/'));

const trees = new Map<string, ts.SourceFile>();

export const parse = (file: SourceFile): ts.SourceFile => {
  const known = trees.get(file.path);
  if (known) return known;
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  trees.set(file.path, tree);
  return tree;
};

export const lineOf = (node: ts.Node): number => {
  const tree = node.getSourceFile();
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
};

/** Calls `visit` for every node below this one. */
export const eachNode = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  ts.forEachChild(node, child => {
    visit(child);
    eachNode(child, visit);
  });
};

const namesOf = (clause: ts.ImportClause | undefined): string[] => {
  const bindings = clause?.namedBindings;
  const named =
    bindings && ts.isNamedImports(bindings) ? bindings.elements.map(e => (e.propertyName ?? e.name).text) : [];
  const everything = bindings && ts.isNamespaceImport(bindings) ? ['*'] : [];
  return [...named, ...everything, ...(clause?.name ? ['default'] : [])];
};

const findImports = (file: SourceFile): Import[] => {
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, names: string[]) => {
    if (specifier && ts.isStringLiteral(specifier))
      found.push({ specifier: specifier.text, names, line: lineOf(node) });
  };
  eachNode(parse(file), node => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, namesOf(node.importClause));
    if (ts.isExportDeclaration(node)) add(node, node.moduleSpecifier, ['*']);
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node, node.arguments[0], ['*']);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node, node.argument.literal, ['*']);
  });
  return found;
};

const imports = new Map<string, Import[]>();

/** Static imports, re-exports and dynamic imports of a literal. */
export const importsOf = (file: SourceFile): Import[] => {
  const known = imports.get(file.path);
  if (known) return known;
  const found = findImports(file);
  imports.set(file.path, found);
  return found;
};

/** The path a relative import points to; null for a package or a part of Node. */
export const targetOf = (file: SourceFile, specifier: string): string | null =>
  specifier.startsWith('.') ? posix.normalize(posix.join(dirname(file.path), specifier)) : null;

export const at = (file: SourceFile, line: number): string => `${file.path}:${line}`;
