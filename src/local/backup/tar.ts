import { FlorinError } from '../../core/errors.ts';

/** What a header of the tar format (ustar) says about a file or directory. */
export type TarHeader = {
  readonly path: string;
  readonly kind: 'file' | 'directory';
  readonly mode: number;
  readonly size: number;
};

export const blockBytes = 512;

const longestPath = 100;
/** Eleven octal digits: 8 GiB. Files of PostgreSQL have at most 1 GiB. */
const largestFile = 8 ** 11 - 1;

export const damagedArchive = (): FlorinError =>
  new FlorinError('conflict', 'The backup is damaged: its archive was changed or cut off.');

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

const checksumOf = (block: Uint8Array): number => {
  let sum = 0;
  // The checksum itself counts as spaces.
  for (let at = 0; at < blockBytes; at++) sum += at >= 148 && at < 156 ? 32 : block[at]!;
  return sum;
};

export const writeTarHeader = ({ path, kind, mode, size }: TarHeader, seconds: number): Buffer => {
  const name = kind === 'directory' ? `${path}/` : path;
  if (Buffer.byteLength(name) > longestPath || size > largestFile) {
    throw new FlorinError('conflict', `${path} is too long or too large for the archive.`);
  }
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(seconds, 11), 136);
  block.write(kind === 'directory' ? '5' : '0', 156);
  block.write('ustar\x0000', 257);
  block.write(`${octal(checksumOf(block), 6)} `, 148);
  return block;
};

/** How many zeros follow a file, so that the next header begins a block. */
export const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes;

/** Null is the end of the archive. Only what writeTarHeader writes is accepted. */
export const readTarHeader = (block: Uint8Array): TarHeader | null => {
  if (block.length < blockBytes) throw damagedArchive();
  if (block.every(byte => byte === 0)) return null;
  const text = Buffer.from(block).toString('latin1');
  const numberAt = (at: number, digits: number): number => {
    const written = text.slice(at, at + digits);
    if (!/^[0-7]+$/.test(written)) throw damagedArchive();
    return Number.parseInt(written, 8);
  };
  const kind = { '0': 'file', '5': 'directory' }[text[156]!] as TarHeader['kind'] | undefined;
  if (numberAt(148, 6) !== checksumOf(block) || text.slice(257, 265) !== 'ustar\x0000' || !kind) throw damagedArchive();
  const end = block.indexOf(0);
  const path = Buffer.from(block.subarray(0, Math.min(end < 0 ? longestPath : end, longestPath))).toString('utf8');
  const size = numberAt(124, 11);
  return { path: path.replace(/\/$/, ''), kind, mode: numberAt(100, 7), size };
};
