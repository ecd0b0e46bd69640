/** RLP values: bytes, and lists of values. */
export type Rlp = Uint8Array | readonly Rlp[];

const bigEndian = (value: number): number[] => (value === 0 ? [] : [...bigEndian(value >>> 8), value & 0xff]);

const prefixed = (offset: number, body: Uint8Array): Uint8Array => {
  if (body.length < 56) return Buffer.concat([Buffer.from([offset + body.length]), body]);
  const length = bigEndian(body.length);
  return Buffer.concat([Buffer.from([offset + 55 + length.length, ...length]), body]);
};

/** Recursive length prefix: the encoding of transactions, receipts and tries before hashing. */
export const encodeRlp = (item: Rlp): Uint8Array => {
  if (!(item instanceof Uint8Array)) return prefixed(0xc0, Buffer.concat(item.map(encodeRlp)));
  return item.length === 1 && item[0]! < 0x80 ? item : prefixed(0x80, item);
};

/** Numbers have no leading zeros, and zero is empty. */
export const rlpNumber = (value: bigint): Uint8Array => {
  if (value === 0n) return new Uint8Array();
  const digits = value.toString(16);
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
};

export const rlpBytes = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex');
