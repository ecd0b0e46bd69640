import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

export type Asset = { readonly name: string; readonly contentType: string; readonly body: Buffer };

/** Everything that a page loads: one style sheet, one script, one icon. */
export type CheckoutAssets = { readonly css: Asset; readonly script: Asset; readonly icon: Asset };

const folder = new URL('../../web/checkout/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

const hashLength = 16;

/** A name that changes with the content, so that a browser may keep what it has for ever. */
export const namedAsset = (stem: string, extension: string, contentType: string, text: string): Asset => {
  const body = Buffer.from(text);
  const hash = createHash('sha256').update(body).digest('hex').slice(0, hashLength);
  return { name: `${stem}-${hash}.${extension}`, contentType, body };
};

/** What has lines of its own and says nothing to a browser: comments, and the room that types have left. */
const idleLines = /^[ \t]*(?:\/\/.*|\/\*[\s\S]*?\*\/)?[ \t]*\n/gm;

/** Node calls it experimental at its first use, to whoever starts Florin; everything here runs by the same stripping. */
const stripTypes: typeof stripTypeScriptTypes = code => {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(code);
  } finally {
    process.emitWarning = emitWarning;
  }
};

/** Its files in one, whose order none of them relies on. */
const scriptText = (): string =>
  readdirSync(folder)
    .filter(name => name.endsWith('.ts'))
    .sort()
    .map(name => stripTypes(read(name)).replaceAll(idleLines, ''))
    .join('');

/** Read at the start, once: there is no step that builds them. */
export const checkoutAssets = (): CheckoutAssets => ({
  css: namedAsset('checkout', 'css', 'text/css; charset=utf-8', read('checkout.css')),
  script: namedAsset('checkout', 'js', 'text/javascript; charset=utf-8', scriptText()),
  icon: namedAsset('icon', 'svg', 'image/svg+xml', read('icon.svg')),
});
