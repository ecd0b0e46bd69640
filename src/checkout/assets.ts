import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';

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

/** Lines that a browser does not need: comments, and blank lines where types were. */
const idleLines = /^[ \t]*(?:\/\/.*|\/\*[\s\S]*?\*\/)?[ \t]*\n/gm;

/** Suppresses the warning that type stripping is experimental: Node itself runs all of Florin with it. */
const stripTypes: typeof stripTypeScriptTypes = code => {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(code);
  } finally {
    process.emitWarning = emitWarning;
  }
};

/** All script files in one. None of them relies on their order. */
const scriptText = (): string =>
  readdirSync(folder)
    .filter(name => name.endsWith('.ts'))
    .sort()
    .map(name => stripTypes(read(name)).replaceAll(idleLines, ''))
    .join('');

/** Reads the files once, at the start. There is no build step. */
export const checkoutAssets = (): CheckoutAssets => ({
  css: namedAsset('checkout', 'css', 'text/css; charset=utf-8', read('checkout.css')),
  script: namedAsset('checkout', 'js', 'text/javascript; charset=utf-8', scriptText()),
  icon: namedAsset('icon', 'svg', 'image/svg+xml', read('icon.svg')),
});
