import encodeQr from 'qr';
import { type Html, html } from '../core/html.ts';
import { createRecentMap } from '../core/recentMap.ts';

/** The standard requires four white modules around a code. */
const quietZone = 4;

/**
 * One line per run of dark modules. Relative moves repeat and so compress well: 0.8 kB for a payment request, where
 * absolute moves take 1.6 kB and rectangles take more.
 */
const pathOf = (rows: readonly (readonly boolean[])[]): string =>
  rows
    .map((row, y) => {
      let path = '';
      let end: number | null = null;
      for (let x = 0; x < row.length; ) {
        const start = x;
        while (row[x]) x++;
        if (x > start) {
          path += end === null ? `M${start} ${y}.5h${x - start}` : `m${start - end} 0h${x - start}`;
          end = x;
        } else x++;
      }
      return path;
    })
    .join('');

type Drawing = { readonly size: number; readonly path: string };

/** Cached, because encoding takes longer than the rest of a page and the same page is rendered many times. */
const drawings = createRecentMap<Drawing>(1000);

const drawingOf = (text: string): Drawing => {
  const known = drawings.get(text);
  if (known) return known;
  const rows = encodeQr(text, 'raw', { ecc: 'medium', border: quietZone });
  const drawing = { size: rows.length, path: pathOf(rows) };
  drawings.set(text, drawing);
  return drawing;
};

/** A QR code with its quiet zone, always black on white. */
export const qrCode = (text: string, label: string): Html => {
  const { size, path } = drawingOf(text);
  return html`<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" stroke="#000"/></svg>`;
};
