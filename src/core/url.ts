const longestUrl = 2_048;

/** Why a URL given by a merchant is refused, or null. `http:` is for loopback, and only where loopback is allowed. */
export const refuseUrlText = (value: string, allowLoopback: boolean): string | null => {
  if (value.length > longestUrl) return `must be at most ${longestUrl} characters`;
  // The parser silently drops tabs and newlines, so what is stored would not be what is opened.
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

/** Hostnames as the URL parser normalises them: odd spellings of IPv4 are dotted by then, IPv6 is in brackets. */
export const isLoopbackName = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);
