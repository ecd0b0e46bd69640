import encodeQr from 'qr';
import { type Html, html } from '../core/html.ts';
import { createRecentMap } from '../core/recentMap.ts';

/** The standard asks for four modules of white around a code. */
const quietZone = 4;

/**
 * A line for each run of dark modules. Relative moves, because they repeat and so compress: 0.8 kB for a payment request,
 * where absolute ones take 1.6 kB and a rectangle each takes more.
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

/** Encoding takes longer than all the rest of a page, and the same page is made again and again. */
const drawings = createRecentMap<Drawing>(1000);

const drawingOf = (text: string): Drawing => {
  const known = drawings.get(text);
  if (known) return known;
  const rows = encodeQr(text, 'raw', { ecc: 'medium', border: quietZone });
  const drawing = { size: rows.length, path: pathOf(rows) };
  drawings.set(text, drawing);
  return drawing;
};

/** A QR code with its quiet zone, black on white whatever the colours around it are. */
export const qrCode = (text: string, label: string): Html => {
  const { size, path } = drawingOf(text);
  return html`<svg viewBox="0 0 ${size} ${size}" role="img" aria-label="${label}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" stroke="#000"/></svg>`;
};
