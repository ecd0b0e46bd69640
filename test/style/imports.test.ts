import { builtinModules } from 'node:module';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { at, codeFiles, importsOf, parse, type SourceFile, sourceFiles, targetOf } from './sourceTree.ts';

type Room = {
  /** Other rooms, or single files of them. */
  readonly mayImport: readonly string[];
  readonly packages: readonly string[];
};

/** The picture in ARCHITECTURE.md as a table. Arrows point down only. */
const rooms: Readonly<Record<string, Room>> = {
  core: { mayImport: [], packages: ['typebox'] },
  chains: { mayImport: ['core'], packages: ['hash-wasm', '@scure/bip32'] },
  vault: { mayImport: ['core'], packages: ['@simplewebauthn/server', 'age-encryption'] },
  local: { mayImport: ['core', 'chains'], packages: ['@nomicfoundation/edr', '@peculiar/x509'] },
  storage: { mayImport: ['core'], packages: ['pg'] },
  webhooks: { mayImport: ['core'], packages: ['undici', 'ipaddr.js'] },
  mail: { mayImport: ['core'], packages: ['nodemailer'] },
  metrics: { mayImport: ['core'], packages: [] },
  limits: { mayImport: ['core'], packages: ['@redis/client'] },
  engine: {
    mayImport: [
      'core',
      'storage',
      'vault',
      'chains/driver.ts',
      'chains/linkage.ts',
      'chains/evm/address.ts',
      'chains/evm/forwarder.ts',
      'chains/evm/xpub.ts',
      'chains/evm/xpubIdentity.ts',
      'chains/evm/paymentUri.ts',
    ],
    packages: [],
  },
  workers: { mayImport: ['core', 'engine', 'storage', 'chains', 'webhooks'], packages: [] },
  checkout: { mayImport: ['core'], packages: ['qr'] },
  http: {
    mayImport: ['core', 'checkout', 'engine', 'storage'],
    packages: ['@fastify/ajv-compiler', 'fastify', 'typebox'],
  },
  cli: {
    mayImport: [
      'core',
      'chains',
      'vault',
      'local',
      'storage',
      'webhooks',
      'mail',
      'metrics',
      'limits',
      'engine',
      'workers',
      'http',
    ],
    packages: ['commander', 'pino'],
  },
};

/** Started by name, not by import. */
const entries = new Set([
  'src/cli/main.ts', // bin/florin.js
  'src/cli/processes/childEntry.ts', // a process under a supervisor
  'src/local/devchain/node.ts', // the dev chain's own process
  'src/vault/breached/build.ts', // for operators with a longer list
  'src/storage/schemaDump.ts', // for the drift test; all SQL lives in this room
]);

const roomOf = (path: string): string => path.split('/')[1]!;
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
const builtins = new Set(builtinModules);

const refusal = (file: SourceFile, specifier: string): string | null => {
  const from = roomOf(file.path);
  const room = rooms[from]!;
  const target = targetOf(file, specifier);
  if (target !== null) {
    const to = roomOf(target);
    const inner = target.replace(/^src\//, '');
    if (!target.startsWith('src/')) return target.startsWith('contracts/artefacts/') ? null : 'leaves src';
    if (to === from || room.mayImport.includes(to) || room.mayImport.includes(inner)) return null;
    return `${from} may not import ${inner}`;
  }
  if (specifier.startsWith('node:')) return from === 'core' ? 'core is pure' : null;
  if (builtins.has(specifier)) return 'parts of Node are named with node:';
  return room.packages.includes(packageOf(specifier)) ? null : `${from} does not own ${packageOf(specifier)}`;
};

test('every file of src lies in a room', () => {
  const outside = sourceFiles.filter(file => !(roomOf(file.path) in rooms)).map(file => file.path);
  expect(outside).toEqual([]);
});

test('imports follow the arrows, and each package has its owners', () => {
  const wrong = sourceFiles.flatMap(file =>
    importsOf(file).flatMap(({ specifier, line }) => {
      const why = refusal(file, specifier);
      return why === null ? [] : [`${at(file, line)} ${specifier}: ${why}`];
    }),
  );
  expect(wrong).toEqual([]);
});

test('relative imports name a file that exists, with its ending', () => {
  const known = new Set(codeFiles.map(file => file.path));
  const wrong = sourceFiles.flatMap(file =>
    importsOf(file)
      .filter(({ specifier }) => {
        const target = targetOf(file, specifier);
        return target !== null && !known.has(target) && !target.endsWith('.json');
      })
      .map(({ specifier, line }) => `${at(file, line)} ${specifier}`),
  );
  expect(wrong).toEqual([]);
});

test('no rooms import each other in a circle', () => {
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    rooms[from]!.mayImport.some(each => {
      const next = each.split('/')[0]!;
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  expect(Object.keys(rooms).filter(room => reaches(room, room))).toEqual([]);
});

test('no files import each other in a circle, not even for their types', () => {
  const imported = new Map(
    codeFiles.map(file => [file.path, importsOf(file).map(({ specifier }) => targetOf(file, specifier) ?? '')]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '));
    if (way.includes(path) || done.has(path)) return;
    for (const next of imported.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of imported.keys()) visit(path, []);
  expect(circles).toEqual([]);
});

test('every file of src is reached from an entry', () => {
  const byPath = new Map(sourceFiles.map(file => [file.path, file]));
  const reached = new Set<string>();
  const visit = (path: string): void => {
    const file = byPath.get(path);
    if (!file || reached.has(path)) return;
    reached.add(path);
    for (const { specifier } of importsOf(file)) {
      const target = targetOf(file, specifier);
      if (target !== null) visit(target);
    }
  };
  for (const entry of entries) visit(entry);
  expect(sourceFiles.map(file => file.path).filter(path => !reached.has(path))).toEqual([]);
});

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(m => m.kind === ts.SyntaxKind.ExportKeyword);

/** Values only: a type may be exported for the reader of a signature. */
const exportedValues = (file: SourceFile): string[] =>
  parse(file).statements.flatMap(statement => {
    if (!isExported(statement)) return [];
    if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(d => d.name.getText());
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
      return [statement.name?.text ?? 'default'];
    return [];
  });

const isMentionedAgain = (file: SourceFile, name: string): boolean =>
  file.text.split(new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`)).length > 2;

test('every exported value is used, here or elsewhere', () => {
  const used = new Set(
    codeFiles.flatMap(file =>
      importsOf(file).flatMap(({ specifier, names }) => names.map(name => `${targetOf(file, specifier)} ${name}`)),
    ),
  );
  const unused = sourceFiles.flatMap(file =>
    used.has(`${file.path} *`)
      ? []
      : exportedValues(file)
          .filter(name => !used.has(`${file.path} ${name}`) && !isMentionedAgain(file, name))
          .map(name => `${file.path} ${name}`),
  );
  expect(unused).toEqual([]);
});
