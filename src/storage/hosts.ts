const urlForm = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

/** The URL of each host that a database URL lists before its path, in its order. */
export const urlsOfHosts = (url: string): string[] => {
  const [, before, hosts, after] = urlForm.exec(url) ?? [];
  return hosts === undefined ? [url] : hosts.split(',').map(host => `${before}${host}${after}`);
};

/** As the operator wrote it, for messages. A URL without a host leads to the default of this machine. */
export const nameOfHost = (url: string): string => {
  const named = urlForm.exec(url)?.[2] || URL.parse(url)?.searchParams.get('host') || 'the default host';
  return named.replaceAll(/%2f/gi, '/');
};

const list = 'must list several hosts before the path: postgres://user:secret@host1:5432,host2:5433/database';

/** What is wrong with a database URL and its parameters about hosts; null if nothing is. */
export const problemOfHosts = (url: string): string | null => {
  const parsed = urlsOfHosts(url).map(each => URL.parse(each));
  const [first] = parsed;
  if (!first || !['postgres:', 'postgresql:'].includes(first.protocol)) return 'must be a postgres: URL';
  if (parsed.includes(null)) return list;
  const { searchParams } = first;
  const values = (name: string): string[] => searchParams.getAll(name);
  const hasSeveral = parsed.length > 1;
  if (hasSeveral && parsed.some(each => each!.hostname === '')) return list;
  if (hasSeveral && [...values('host'), ...values('port')].length > 0) return list;
  if ([...values('host'), ...values('port')].some(value => value.includes(','))) return list;
  if (values('target_session_attrs').some(value => value !== 'read-write' && value !== 'primary')) {
    return 'must have target_session_attrs=read-write or primary, or leave it out: Florin uses a writable server only';
  }
  if (values('load_balance_hosts').some(value => value !== 'disable')) {
    return 'must not have load_balance_hosts: Florin uses the one writable server';
  }
  return null;
};
