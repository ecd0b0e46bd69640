import { permissionsPolicy } from './permissionsPolicy.ts';

type Headers = Readonly<Record<string, string>>;

/** Nothing of what a browser can do is needed here but putting an address into the clipboard. */
const permissions = permissionsPolicy();

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors";

/** For everything at the checkout's addresses. The database lets nothing but origins into the list. */
export const checkoutHeaders = (origins: readonly string[] = []): Headers => ({
  'content-security-policy': `${policy} ${origins.length === 0 ? "'none'" : origins.join(' ')}`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'permissions-policy': permissions,
  'cross-origin-opener-policy': 'same-origin',
});

/** Pages tell who asks for how much: they are kept nowhere. */
const makePageHeaders = (language: string, origins: readonly string[]): Headers => ({
  ...checkoutHeaders(origins),
  'cache-control': 'no-store',
  'content-language': language,
  vary: 'Accept-Language, Accept-Encoding',
});

const unframed = new Map<string, Headers>();

/** By the tag of a language of ours. Nearly all pages are shown in no frame: those of a language have them in common. */
export const pageHeaders = (language: string, origins: readonly string[] = []): Headers => {
  if (origins.length > 0) return makePageHeaders(language, origins);
  const known = unframed.get(language);
  if (known) return known;
  const made = makePageHeaders(language, []);
  unframed.set(language, made);
  return made;
};
