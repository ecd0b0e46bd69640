/** Headers of images of a given size, which is all that is read. */

const filled = (bytes: readonly number[], length = 64): Buffer => {
  const buffer = Buffer.alloc(length);
  Buffer.from(bytes).copy(buffer);
  return buffer;
};

export const png = (width: number, height: number, length = 64): Buffer => {
  const buffer = filled([0x89, 0x50, 0x4e, 0x47, 13, 10, 0x1a, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52], length);
  buffer.writeUInt32BE(width, 16);
  buffer.writeUInt32BE(height, 20);
  return buffer;
};

/** With a segment before the frame, as cameras and editors write it. */
export const jpeg = (width: number, height: number): Buffer => {
  const buffer = filled([0xff, 0xd8, 0xff, 0xe0, 0, 16]);
  buffer.set([0xff, 0xc2, 0, 17, 8], 20);
  buffer.writeUInt16BE(height, 25);
  buffer.writeUInt16BE(width, 27);
  return buffer;
};

const riff = (kind: string): Buffer => {
  const buffer = Buffer.alloc(64);
  buffer.write(`RIFF\0\0\0\0WEBP${kind}`, 'latin1');
  return buffer;
};

export const webps: Readonly<Record<string, (width: number, height: number) => Buffer>> = {
  lossy(width, height) {
    const buffer = riff('VP8 ');
    buffer.writeUInt16LE(width, 26);
    buffer.writeUInt16LE(height, 28);
    return buffer;
  },
  lossless(width, height) {
    const buffer = riff('VP8L');
    buffer.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 21);
    return buffer;
  },
  extended(width, height) {
    const buffer = riff('VP8X');
    buffer.writeUIntLE(width - 1, 24, 3);
    buffer.writeUIntLE(height - 1, 27, 3);
    return buffer;
  },
};
