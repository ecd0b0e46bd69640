/** Where mail is handed in, and how. Contains a password. */
export type SmtpServer = {
  readonly host: string;
  readonly port: number;
  /** `tls`: from the first byte. `starttls`: required before anything is said. `plain`: not at all. */
  readonly security: 'tls' | 'starttls' | 'plain';
  readonly user: { readonly name: string; readonly password: string } | null;
};

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1)$/.test(host);

const securityOf = (url: URL, host: string): SmtpServer['security'] | string => {
  if (url.protocol === 'smtps:') return url.search === '' ? 'tls' : 'must not have ? after smtps:';
  if (url.search === '?starttls=off') return 'plain';
  if (url.search !== '') return 'may have ?starttls=off, and nothing else after ?';
  return isLoopback(host) ? 'plain' : 'starttls';
};

/** `smtp://` or `smtps://`, with user and password. The text says why it is refused, and never quotes it. */
export const readSmtpServer = (text: string): SmtpServer | string => {
  const url = URL.parse(text);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol)) return 'must be a smtp: or smtps: URL';
  if (url.hostname === '') return 'must name a host';
  if (!['', '/'].includes(url.pathname) || url.hash !== '') return 'must not have a path or #';
  if ((url.username === '') !== (url.password === '')) return 'must have a user and a password, or neither';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const security = securityOf(url, host);
  if (security !== 'tls' && security !== 'starttls' && security !== 'plain') return security;
  try {
    const [name, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    const port = url.port === '' ? (security === 'tls' ? 465 : 587) : Number(url.port);
    return { host, port, security, user: name === '' ? null : { name, password } };
  } catch {
    return 'must write special characters of user and password as % and two hexadecimal digits';
  }
};

/** One address, plain, or with a name: `Florin <florin@shop.example>`. */
export const readSender = (text: string): { name: string; address: string } | null => {
  const [, name = '', inner] = /^(?:([^<>"\\,;:@]*?)\s*<([^<>\s]+)>)$/.exec(text) ?? [];
  const address = inner ?? text;
  return isPlainAddress(address) && !/\p{Cc}/u.test(text) ? { name: name.trim(), address } : null;
};

/** An address that cannot be read as several, and adds nothing to the header or the dialogue. */
export const isPlainAddress = (text: string): boolean =>
  /^[^\s\p{Cc}<>()[\]\\,;:"@]{1,64}@[^\s\p{Cc}<>()[\]\\,;:"@]{1,255}$/u.test(text);
