export type FramedValue = string | bigint | null;

const tags = { string: 1, bigint: 2, null: 0 } as const;

const frame = (value: FramedValue): Buffer => {
  if (value === null) return Buffer.from([tags.null]);
  // A lone surrogate would become the replacement character, and two texts would have the same bytes.
  if (typeof value === 'string' && !value.isWellFormed())
    throw new TypeError('text to authenticate is not well-formed Unicode');
  const bytes = Buffer.from(value.toString(), 'utf8');
  const head = Buffer.alloc(5);
  head.writeUInt8(typeof value === 'string' ? tags.string : tags.bigint, 0);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
};

/**
 * Bytes to authenticate: the number of values, then each with its kind and length, so that no two lists of values share
 * an encoding (`["a","bc"]` and `["ab","c"]` differ, as do `null` and `""`, and `1n` and `"1"`).
 */
export const framed = (values: readonly FramedValue[]): Buffer => {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(values.length);
  return Buffer.concat([count, ...values.map(frame)]);
};
