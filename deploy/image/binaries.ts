import { closeSync, globSync, lstatSync, openSync, readFileSync, readSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Architecture, architectures } from './contents.ts';

type Format =
  | { readonly kind: 'elf'; readonly machine: number }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'other' };

const foreignHeads = ['cffaedfe', 'cefaedfe', 'cafebabe', 'feedface', 'feedfacf'];

const formatOf = (path: string): Format => {
  const head = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, head, 0, head.length, 0);
  closeSync(file);
  const magic = head.toString('hex', 0, 4);
  if (magic === '7f454c46') return { kind: 'elf', machine: head.readUInt16LE(18) };
  const isForeign = foreignHeads.includes(magic) || (magic.startsWith('4d5a') && /\.(?:exe|dll|node)$/.test(path));
  return isForeign ? { kind: 'foreign' } : { kind: 'other' };
};

/** The names of the libraries that a program or library of 64 bits asks for. */
const neededBy = (path: string): string[] => {
  const bytes = readFileSync(path);
  const number = (at: number): number => Number(bytes.readBigUInt64LE(at));
  const [headers, size, count] = [number(0x20), bytes.readUInt16LE(0x36), bytes.readUInt16LE(0x38)];
  const segments = Array.from({ length: count }, (_, index) => {
    const at = headers + index * size;
    return { type: bytes.readUInt32LE(at), offset: number(at + 8), address: number(at + 16), bytes: number(at + 32) };
  });
  const dynamic = segments.find(({ type }) => type === 2);
  if (dynamic === undefined) return [];
  const entries: { tag: number; value: number }[] = [];
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.bytes; at += 16) {
    entries.push({ tag: number(at), value: number(at + 8) });
  }
  const tableAddress = entries.find(({ tag }) => tag === 5)?.value ?? 0;
  const holder = segments.find(
    ({ type, address, bytes: length }) => type === 1 && address <= tableAddress && tableAddress < address + length,
  );
  if (holder === undefined) return [];
  const table = holder.offset + tableAddress - holder.address;
  return entries
    .filter(({ tag }) => tag === 1)
    .map(({ value }) => bytes.toString('latin1', table + value, bytes.indexOf(0, table + value)));
};

/** Machine code for another platform, and libraries that nothing in the image provides. */
export const binaryProblems = (root: string, architecture: Architecture): string[] => {
  const { elfMachine } = architectures[architecture];
  const problems: string[] = [];
  const needed = new Map<string, string>();
  const names = new Set<string>();
  const unique = new Set<string>();
  for (const path of globSync('**/*', { cwd: root })) {
    const file = join(root, path);
    const isLink = lstatSync(file).isSymbolicLink();
    if (/\.so(?:\.|$)/.test(path)) names.add(basename(path));
    if (isLink || !lstatSync(file).isFile() || unique.has(realpathSync(file))) continue;
    unique.add(realpathSync(file));
    const format = formatOf(file);
    if (format.kind === 'other') continue;
    if (format.kind === 'foreign' || format.machine !== elfMachine) problems.push(`${path} is for another platform`);
    else for (const name of neededBy(file)) needed.set(name, path);
  }
  for (const [name, path] of needed) if (!names.has(name)) problems.push(`${path} needs ${name}, which is not there`);
  return problems;
};
