const longestUrl = 2_048;

/**
 * Why a merchant's URL is refused, as the end of a sentence; null if it is accepted. `http:` is only for loopback, and
 * only where loopback is allowed.
 */
export const refuseUrlText = (value: string, allowLoopback: boolean): string | null => {
  if (value.length > longestUrl) return `must be at most ${longestUrl} characters`;
  // The parser silently drops tabs and newlines, so the stored URL would differ from the one that is opened.
  if (/[\s\p{Cc}\\]/u.test(value) || !value.isWellFormed()) {
    return 'must not contain spaces, control characters or backslashes';
  }
  const scheme = allowLoopback ? 'https: (or http: to a loopback address)' : 'https:';
  const authority = /^https?:\/\/([^/?#]+)/i.exec(value)?.[1];
  const url = URL.parse(value);
  if (authority === undefined || url === null) return `must be an absolute ${scheme} URL`;
  if (authority.includes('@')) return 'must not contain credentials';
  const isSecure = url.protocol === 'https:' || (allowLoopback && isLoopbackName(url.hostname));
  return isSecure ? null : `must be an absolute ${scheme} URL`;
};

/** Takes a hostname as the URL parser normalises it: other spellings of IPv4 are dotted, IPv6 is in brackets. */
export const isLoopbackName = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);

/** Whether others than this machine could reach an origin, as far as its text tells. */
export const isPublicOrigin = (origin: string): boolean => {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' && !isLoopbackName(hostname);
};
