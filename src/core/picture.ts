/** Image formats that browsers show and that cannot carry scripts. Recognised by their first bytes, never by a name. */
export type Picture = { readonly kind: 'png' | 'jpg' | 'webp'; readonly width: number; readonly height: number };

export const pictureTypes = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' } as const;

const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const readPng = (bytes: Uint8Array): Picture | null => {
  const isPng = bytes.length > 32 && textAt(bytes, 0, 8) === '\x89PNG\r\n\x1a\n' && textAt(bytes, 12, 4) === 'IHDR';
  const view = viewOf(bytes);
  return isPng ? { kind: 'png', width: view.getUint32(16), height: view.getUint32(20) } : null;
};

/** Start-of-frame markers: 0xc0 … 0xcf without those of tables and arithmetic coding. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

const readJpeg = (bytes: Uint8Array): Picture | null => {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
  const view = viewOf(bytes);
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!;
    if (isFrame(marker)) return { kind: 'jpg', height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    // The length includes its own two bytes; a smaller one would loop forever.
    const length = view.getUint16(at + 2);
    if (length < 2) return null;
    at += 2 + length;
  }
  return null;
};

const readWebp = (bytes: Uint8Array): Picture | null => {
  if (bytes.length < 30 || textAt(bytes, 0, 4) !== 'RIFF' || textAt(bytes, 8, 4) !== 'WEBP') return null;
  const view = viewOf(bytes);
  const sizes: Readonly<Record<string, () => [number, number]>> = {
    'VP8 ': () => [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff],
    VP8L: () => {
      const bits = view.getUint32(21, true);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    },
    VP8X: () => [(view.getUint32(24, true) & 0xffffff) + 1, (view.getUint32(26, true) >>> 8) + 1],
  };
  const size = sizes[textAt(bytes, 12, 4)];
  if (!size) return null;
  const [width, height] = size();
  return { kind: 'webp', width, height };
};

/** Returns null for any other format. */
export const readPicture = (bytes: Uint8Array): Picture | null => readPng(bytes) ?? readJpeg(bytes) ?? readWebp(bytes);
