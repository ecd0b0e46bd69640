import { closeSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** The machines in the heads of ELF, Mach-O and PE files below a folder, with how many files each has. */
export const machinesIn = (folder: string): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name);
    if (!lstatSync(path).isFile()) continue;
    const head = Buffer.alloc(20);
    const file = openSync(path, 'r');
    readSync(file, head, 0, 20, 0);
    closeSync(file);
    const machine = machineOf(head, name);
    if (machine !== null) found[machine] = (found[machine] ?? 0) + 1;
  }
  return found;
};

const machineOf = (head: Buffer, name: string): string | null => {
  const number = head.readUInt32BE(0);
  if (number === 0x7f454c46) return { 62: 'x64', 183: 'arm64' }[head.readUInt16LE(18)] ?? 'another machine';
  if ([0xcffaedfe, 0xcefaedfe, 0xcafebabe].includes(number)) return 'macOS';
  return head.readUInt16BE(0) === 0x4d5a && /\.(exe|dll|node)$/.test(name) ? 'Windows' : null;
};
