import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net';
import { getCACertificates, connect as tlsConnect } from 'node:tls';
import type { buildConnector } from 'undici';
import { EgressError } from './failure.ts';
import { addressBytes, classifyAddress, isLocalhostName } from './guard.ts';

export type Listener = { readonly address: string; readonly port: number };

/** All addresses of a host name. Throws an EgressError. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

export type ConnectPolicy = {
  readonly allowLoopback: boolean;
  readonly ownListeners: () => readonly Listener[];
  readonly resolveHost: ResolveHost;
  /** PEM. Trusted for loopback receivers in addition to the usual authorities. */
  readonly loopbackCa: string | undefined;
  readonly timeoutMs: number;
};

type Target = { readonly host: string; readonly port: number; readonly secure: boolean };

const maxAddresses = 8;
const attemptTimeoutMs = 1_000;

/** A connector for undici that opens sockets only to addresses it has resolved and checked itself. */
export const guardedConnect =
  (policy: ConnectPolicy): buildConnector.connector =>
  ({ hostname, protocol, port }, callback) => {
    const secure = protocol === 'https:';
    const target = { host: hostname, port: port ? Number(port) : secure ? 443 : 80, secure };
    open(target, policy).then(
      socket => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };

const open = async (target: Target, policy: ConnectPolicy): Promise<Socket> => {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new EgressError('timed_out')), policy.timeoutMs);
  try {
    const addresses = await Promise.race([addressesOf(target.host, policy), rejectOnAbort(deadline.signal)]);
    // One refused address refuses the name: DNS rebinding mixes good and bad addresses.
    for (const address of addresses) refuseUnlessAllowed(address, target, policy);
    return await dial(target, addresses.slice(0, maxAddresses), policy, deadline.signal);
  } finally {
    clearTimeout(timer);
  }
};

const addressesOf = async (host: string, policy: ConnectPolicy): Promise<readonly string[]> => {
  if (isIP(host) !== 0) return [host];
  // These names are loopback by definition (RFC 6761), whatever a resolver says.
  if (isLocalhostName(host)) return ['127.0.0.1', '::1'];
  const addresses = await policy.resolveHost(host);
  if (addresses.length === 0) throw new EgressError('name_not_found');
  return addresses;
};

const refuseUnlessAllowed = (address: string, { port, secure }: Target, policy: ConnectPolicy): void => {
  const kind = classifyAddress(address);
  const allowed = kind === 'loopback' ? policy.allowLoopback : kind === 'public' && secure;
  if (!allowed) throw new EgressError('address_refused');
  if (policy.ownListeners().some(listener => reaches(address, port, listener))) throw new EgressError('own_listener');
};

const isEverywhere = ({ address }: Listener): boolean => sameAddress(address, '0.0.0.0') || sameAddress(address, '::');

/** Whether a connection to this address and port reaches one of Florin's own listeners, as far as its address tells. */
const reaches = (address: string, port: number, listener: Listener): boolean => {
  if (port !== listener.port) return false;
  if (classifyAddress(address) !== 'loopback') return sameAddress(address, listener.address);
  return isEverywhere(listener) || classifyAddress(listener.address) === 'loopback';
};

type Ends = { readonly localAddress?: string | undefined; readonly remoteAddress?: string | undefined };

/**
 * Whether an open connection goes to a listener of this machine that is on all addresses. A connection to an address of
 * one's own machine also comes from it. The list of interfaces would tell it before, but a service that is allowed only to
 * use the network cannot read that list.
 */
export const isOwnListener = (ends: Ends, port: number, listeners: readonly Listener[]): boolean =>
  sameAddress(ends.localAddress ?? '', ends.remoteAddress ?? '') &&
  listeners.some(listener => listener.port === port && isEverywhere(listener));

const sameAddress = (a: string, b: string): boolean => {
  const left = addressBytes(a);
  const right = addressBytes(b);
  return left !== undefined && right !== undefined && Buffer.compare(left, right) === 0;
};

const dial = (
  target: Target,
  addresses: readonly string[],
  policy: ConnectPolicy,
  deadline: AbortSignal,
): Promise<Socket> => {
  const socket = target.secure ? tlsSocket(target, addresses, policy) : netConnect(tcpOptions(target, addresses));
  const expire = (): void => void socket.destroy(deadline.reason);
  deadline.addEventListener('abort', expire, { once: true });
  return new Promise<Socket>((resolve, reject) => {
    socket.on('error', reject);
    // Before TLS starts to send.
    socket.prependOnceListener('connect', () => {
      try {
        // Checks the address that was actually reached.
        refuseUnlessAllowed(socket.remoteAddress ?? '', target, policy);
        if (isOwnListener(socket, target.port, policy.ownListeners())) throw new EgressError('own_listener');
      } catch (error) {
        socket.destroy(error as EgressError);
      }
    });
    socket.once('close', () => reject(new EgressError('timed_out')));
    socket.once(target.secure ? 'secureConnect' : 'connect', () => {
      if (!socket.destroyed) resolve(socket);
    });
  }).finally(() => deadline.removeEventListener('abort', expire));
};

const tcpOptions = ({ host, port }: Target, addresses: readonly string[]) => {
  const answers = addresses.map(address => ({ address, family: isIP(address) }));
  const pinned: LookupFunction = (_hostname, _options, callback) => callback(null, answers);
  return {
    host,
    port,
    lookup: pinned,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    noDelay: true,
  };
};

const tlsSocket = (target: Target, addresses: readonly string[], policy: ConnectPolicy): Socket => {
  const onLoopback = addresses.every(address => classifyAddress(address) === 'loopback');
  const extra = onLoopback && policy.loopbackCa !== undefined;
  return tlsConnect({
    ...tcpOptions(target, addresses),
    ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
    ...(extra ? { ca: [...getCACertificates('default'), policy.loopbackCa!] } : {}),
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable verification.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
  });
};

const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Defaults to the system's name servers. */
type NameServers = { readonly servers?: readonly string[]; readonly timeoutMs?: number };

const unknownName = new Set(['ENOTFOUND', 'ENODATA']);

/** Asks the name servers directly: with getaddrinfo, four slow names would block the thread pool for all deliveries. */
export const createResolveHost = ({ servers, timeoutMs = 2_000 }: NameServers = {}): ResolveHost => {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async hostname => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failed = answers.some(answer => answer.status === 'rejected' && !unknownName.has(answer.reason.code));
    throw new EgressError(failed ? 'name_lookup_failed' : 'name_not_found');
  };
};
