/** Reads bytes from a stream of chunks, as many at a time as the caller wants. */
export type ByteReader = {
  /** Some of the next bytes, at least one and at most `most`; none at the end. */
  some(most: number): Promise<Uint8Array>;
  /** Exactly this many bytes; fewer only at the end. */
  take(count: number): Promise<Uint8Array>;
};

const nothing = new Uint8Array(0);

export const joinBytes = (parts: readonly Uint8Array[]): Uint8Array => {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
};

export const createByteReader = (source: AsyncIterable<Uint8Array>): ByteReader => {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Uint8Array = nothing;
  const some = async (most: number): Promise<Uint8Array> => {
    while (rest.length === 0) {
      const { value, done } = await chunks.next();
      if (done) return nothing;
      rest = value;
    }
    const part = rest.subarray(0, most);
    rest = rest.subarray(part.length);
    return part;
  };
  return {
    some,
    async take(count) {
      const parts: Uint8Array[] = [];
      let missing = count;
      while (missing > 0) {
        const part = await some(missing);
        if (part.length === 0) break;
        parts.push(part);
        missing -= part.length;
      }
      return parts.length === 1 ? parts[0]! : joinBytes(parts);
    },
  };
};
