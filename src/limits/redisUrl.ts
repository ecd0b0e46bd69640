/** Where REDIS_URL leads: one server, the sentinels that know where it is, or some nodes of a cluster. */
export type RedisServer = {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly isEncrypted: boolean;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  /** The name that sentinels know the server by. */
  readonly master: string | null;
};

const form = /^(rediss?):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([0-9]{0,2}))?(?:\?([^#]*))?$/i;
const hostForm = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::([0-9]{1,5}))?$/i;
const usualPorts = { server: 6379, cluster: 6379, sentinel: 26_379 } as const;

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

/** Returns why the text is not valid, without quoting it: it may contain a password. */
export const readRedisUrl = (text: string): RedisServer | string => {
  const [, scheme, credentials, places, database, query = ''] = form.exec(text) ?? [];
  if (!scheme || !places)
    return 'must be redis://HOST or rediss://HOST, with user:password@, :PORT and /NUMBER as needed';
  const options = new URLSearchParams(query);
  const master = options.get('sentinel');
  const isCluster = options.has('cluster');
  const known = [...options.keys()].every(name => name === 'sentinel' || name === 'cluster');
  if (!known || (master !== null && isCluster) || master === '')
    return 'may end with ?sentinel=NAME or ?cluster, and with nothing else';
  const kind = master === null ? (isCluster ? 'cluster' : 'server') : 'sentinel';
  const hosts = readHosts(places, usualPorts[kind]);
  if (hosts === null)
    return 'must name a host, or several with commas between them, each with a port from 1 to 65535 if any';
  if (hosts.length > 1 && kind === 'server') return 'names several hosts: add ?sentinel=NAME or ?cluster';
  const named = readCredentials(credentials);
  if (named === null) return 'has a user or password that is not encoded as in a URL';
  if (named.username !== null && named.password === null) return 'has a user without a password';
  if (isCluster && database) return 'must not have a database number: a cluster has only one';
  return { kind, hosts, isEncrypted: /^rediss$/i.test(scheme), ...named, database: Number(database ?? 0), master };
};
