import { permissionsPolicy } from '../edge/permissionsPolicy.ts';

type Headers = Readonly<Record<string, string>>;

/** The page needs no browser feature except writing to the clipboard. */
const permissions = permissionsPolicy();

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors";

/** Headers of every checkout response. The database accepts only origins in this list. */
export const checkoutHeaders = (origins: readonly string[] = []): Headers => ({
  'content-security-policy': `${policy} ${origins.length === 0 ? "'none'" : origins.join(' ')}`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'permissions-policy': permissions,
  'cross-origin-opener-policy': 'same-origin',
});

/** Pages show who requests which amount, so nobody may cache them. */
const makePageHeaders = (language: string, origins: readonly string[]): Headers => ({
  ...checkoutHeaders(origins),
  'cache-control': 'no-store',
  'content-language': language,
  vary: 'Accept-Language, Accept-Encoding',
});

const unframed = new Map<string, Headers>();

/**
 * `language` is the tag of a supported language. Most pages allow no frame, so these headers are cached per language.
 */
export const pageHeaders = (language: string, origins: readonly string[] = []): Headers => {
  if (origins.length > 0) return makePageHeaders(language, origins);
  const known = unframed.get(language);
  if (known) return known;
  const made = makePageHeaders(language, []);
  unframed.set(language, made);
  return made;
};
