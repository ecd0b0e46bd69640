import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type Asset = { readonly name: string; readonly contentType: string; readonly body: Buffer };

/** Everything that a page loads: one style sheet, one script, one icon. */
export type CheckoutAssets = { readonly css: Asset; readonly script: Asset; readonly icon: Asset };

const folder = new URL('../../web/checkout/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

const hashLength = 16;

/** The name changes with the content, so that browsers may cache the file for ever. */
export const namedAsset = (stem: string, extension: string, contentType: string, text: string): Asset => {
  const body = Buffer.from(text);
  const hash = createHash('sha256').update(body).digest('hex').slice(0, hashLength);
  return { name: `${stem}-${hash}.${extension}`, contentType, body };
};

/** Read once, at the start. Script and style are built from the sources beside them: npm run build. */
export const checkoutAssets = (): CheckoutAssets => ({
  css: namedAsset('checkout', 'css', 'text/css; charset=utf-8', read('built/checkout.css')),
  script: namedAsset('checkout', 'js', 'text/javascript; charset=utf-8', read('built/checkout.js')),
  icon: namedAsset('icon', 'svg', 'image/svg+xml; charset=utf-8', read('icon.svg')),
});
