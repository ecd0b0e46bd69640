import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { type Bundle, buildDashboard, initialScripts } from '../../web/dashboard/build.ts';

const folder = fileURLToPath(new URL('../../web/dashboard/built/', import.meta.url));
const mostInitialBytes = 150_000;
let bundle: Bundle;

beforeAll(async () => {
  bundle = await buildDashboard();
});

const textOf = (name: string): string => Buffer.from(bundle.files.get(name)!).toString('utf8');

test('web/dashboard/built is what its sources give: npm run build', async () => {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const names = found
    .filter(file => file.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(folder.length).replace(/^\//, ''));
  expect(names.sort()).toEqual([...bundle.files.keys()].sort());
  for (const [name, bytes] of bundle.files) {
    const isSame = Buffer.from(bytes).equals(await readFile(folder + name));
    expect(isSame, `${name}: run npm run build`).toBe(true);
  }
});

test('the same bytes come out each time', async () => {
  const again = await buildDashboard();
  expect([...again.files.keys()]).toEqual([...bundle.files.keys()]);
  for (const [name, bytes] of again.files) expect(Buffer.from(bytes).equals(bundle.files.get(name)!)).toBe(true);
});

test(`what is loaded before anything is shown has at most ${mostInitialBytes} bytes`, () => {
  const scripts = initialScripts(bundle.metafile);
  const sizes = scripts.map(name => gzipSync(bundle.files.get(`assets/${name}`)!).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(mostInitialBytes);
});

test('each page is a file of its own, loaded when it is opened', () => {
  const { outputs } = bundle.metafile;
  const initial = new Set(initialScripts(bundle.metafile));
  const homes = new Map(
    Object.entries(outputs).flatMap(([path, { inputs }]) =>
      Object.keys(inputs)
        .filter(input => input.startsWith('web/dashboard/pages/'))
        .map(input => [input, path.slice(path.lastIndexOf('/') + 1)] as const),
    ),
  );
  expect(homes.size).toBeGreaterThan(2);
  expect([...homes].filter(([, home]) => initial.has(home))).toEqual([]);
});

test('the page asks for nothing but its own files, and has nothing inline', () => {
  const html = textOf('index.html');
  const asked = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(match => match[1]!);
  const own = asked.filter(address => address.startsWith('/dashboard/assets/'));
  expect(own.map(address => address.slice('/dashboard/'.length)).filter(name => !bundle.files.has(name))).toEqual([]);
  expect(asked.filter(address => !own.includes(address) && !address.startsWith('data:image/svg+xml,'))).toEqual([]);
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=/);
});

test('no file tells of the machine that it was made on, or leads to its source', () => {
  for (const name of bundle.files.keys())
    expect(textOf(name), name).not.toMatch(/sourceMappingURL|\/(?:tmp|home|work|Users)\//);
});
