/** Where REDIS_URL leads: to a server, or to the sentinels that know which server is in charge. */
export type RedisServer = {
  readonly kind: 'server' | 'sentinel';
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly isEncrypted: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  /** The name that sentinels know the server by, and how Florin signs in to them. */
  readonly sentinel: {
    readonly name: string;
    readonly username: string | null;
    readonly password: string | null;
  } | null;
};

const form = /^(rediss?):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([0-9]{0,2}))?(?:\?([^#]*))?$/i;
const hostForm = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?$/i;
const usualPorts = { server: 6379, sentinel: 26_379 } as const;
const optionNames = ['sentinel', 'sentinelUser', 'sentinelPassword'];

const readHosts = (text: string, usualPort: number): RedisServer['hosts'] | null => {
  const hosts = text.split(',').map(each => hostForm.exec(each));
  const read = hosts.flatMap(found =>
    found ? [{ host: found[1]!.replaceAll(/[[\]]/g, ''), port: Number(found[2] ?? usualPort) }] : [],
  );
  const isRight = read.length === hosts.length && read.every(({ port }) => port > 0 && port < 65_536);
  return isRight ? read : null;
};

const readCredentials = (text: string | undefined): Pick<RedisServer, 'username' | 'password'> | null => {
  if (text === undefined) return { username: null, password: null };
  const [name, ...rest] = text.split(':');
  try {
    const [username, password] = [name!, rest.join(':')].map(decodeURIComponent);
    return { username: username || null, password: password || null };
  } catch {
    return null;
  }
};

const readSentinel = (options: URLSearchParams): RedisServer['sentinel'] | string => {
  if (options.has('cluster')) return 'names a cluster, which Florin cannot use: give it one server, or Sentinel';
  if ([...options.keys()].some(name => !optionNames.includes(name)))
    return 'may end with ?sentinel=NAME, then &sentinelUser= and &sentinelPassword=, and with nothing else';
  const [name, username, password] = optionNames.map(option => options.get(option) || null);
  if (!name && options.size > 0) return 'must give the name of the server: ?sentinel=NAME';
  if (username && !password) return 'has a sentinelUser without a sentinelPassword';
  return name ? { name, username: username!, password: password! } : null;
};

/** Returns why the text is not valid, without quoting it: it may contain a password. */
export const readRedisUrl = (text: string): RedisServer | string => {
  const [, scheme, credentials, places, database, query = ''] = form.exec(text) ?? [];
  if (!scheme || !places)
    return 'must be redis://HOST or rediss://HOST, with user:password@, :PORT and /NUMBER as needed';
  const sentinel = readSentinel(new URLSearchParams(query));
  if (typeof sentinel === 'string') return sentinel;
  const kind = sentinel === null ? 'server' : 'sentinel';
  const hosts = readHosts(places, usualPorts[kind]);
  if (hosts === null)
    return 'must name a host, or several with commas between them, each with a port from 1 to 65535 if any';
  if (hosts.length > 1 && kind === 'server') return 'names several hosts, which needs ?sentinel=NAME';
  const named = readCredentials(credentials);
  if (named === null) return 'has a user or password that is not encoded as in a URL';
  if (named.username !== null && named.password === null) return 'has a user without a password';
  return { kind, hosts, isEncrypted: /^rediss$/i.test(scheme), ...named, database: Number(database ?? 0), sentinel };
};
