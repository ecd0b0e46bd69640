import { zeroAddress } from './address.ts';
import { formatOf, type HeaderField } from './headerFormats.ts';
import { keccak256Hex } from './keccak.ts';

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

const byte = (value: number): string => value.toString(16).padStart(2, '0');
const even = (digits: string): string => (digits.length % 2 === 0 ? digits : `0${digits}`);

/** RLP in hexadecimal digits. One string is faster than many small buffers. */
const prefixed = (offset: number, digits: string): string => {
  const length = digits.length / 2;
  if (length < 56) return byte(offset + length) + digits;
  const size = even(length.toString(16));
  return byte(offset + 55 + size.length / 2) + size + digits;
};

/** Null if the value has no digits. The caller checks that they are hexadecimal. */
const encodeField = ({ isNumber }: HeaderField, value: unknown): string | null => {
  if (typeof value !== 'string' || !value.startsWith('0x')) return null;
  const digits = isNumber ? even(value.slice(2).replace(/^0+/, '')) : value.slice(2);
  if (digits.length % 2 !== 0) return null;
  return digits.length === 2 && digits < '80' ? digits : prefixed(0x80, digits);
};

type Fields = Readonly<Record<string, unknown>>;

/**
 * The hash of a block as its header fields give it, or null if they do not make a header of a known format. An optional
 * field that is missing before one that is there is encoded as empty.
 */
const hashHeader = (fields: Fields): string | null => {
  const { required, optional } = formatOf(fields);
  let encoded = '';
  for (const field of required) {
    const item = encodeField(field, fields[field.name]);
    if (item === null) return null;
    encoded += item;
  }
  const last = optional.findLastIndex(({ name }) => isPresent(fields[name]));
  for (let at = 0; at <= last; at++) {
    const value = fields[optional[at]!.name];
    const item = isPresent(value) ? encodeField(optional[at]!, value) : '80';
    if (item === null) return null;
    encoded += item;
  }
  const digits = prefixed(0xc0, encoded);
  const bytes = Buffer.from(digits, 'hex');
  // Decoding stops at the first character that is not hexadecimal.
  return bytes.length * 2 === digits.length ? `0x${keccak256Hex(bytes)}` : null;
};

/**
 * Whether the header fields give this hash. Some Polygon nodes show the author of a block as its `miner`, which is zero
 * in the header.
 */
export const hasHash = (fields: Fields, hash: string): boolean =>
  hashHeader(fields) === hash || hashHeader({ ...fields, miner: zeroAddress }) === hash;

/**
 * The names of all fields that a header came with, known or not. Headers of one format have one shape; a fork that adds
 * a field gives another.
 */
export const shapeOf = (fields: Fields): string => {
  let shape = '';
  for (const name in fields) if (isPresent(fields[name])) shape += `${name} `;
  return shape;
};
