import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4 } from 'node:net';

/** A dual-stack socket reports an IPv4 peer as ::ffff:1.2.3.4. Both are the same address. */
const unmapped = (address: string): string => {
  const inner = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  return inner !== undefined && isIPv4(inner) ? inner : address;
};

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv4(address) ? 'ipv4' : 'ipv6');

/** Returns whether an address is in one of the blocks. An invalid address is in none. */
export const createAddressMatcher = (blocks: readonly string[]): ((address: string) => boolean) => {
  const list = new BlockList();
  for (const block of blocks) {
    const [base, bits] = block.split('/') as [string, string?];
    const family = familyOf(base);
    list.addSubnet(base, bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits), family);
  }
  return text => {
    const address = unmapped(text);
    return isIP(address) !== 0 && list.check(address, familyOf(address));
  };
};

/**
 * Finds the client that sent a request. X-Forwarded-For counts only if the peer is a trusted proxy. The client is then
 * the right-most address that is not a trusted proxy, because the client can write everything to the left of it.
 */
export const createClientAddress = (trustedProxies: readonly string[]) => {
  const isTrusted = createAddressMatcher(trustedProxies);
  return (request: IncomingMessage): { address: string; proto: string | null } => {
    const peer = request.socket.remoteAddress ?? '';
    if (trustedProxies.length === 0 || !isTrusted(peer)) return { address: peer, proto: null };
    const header = (name: string): string[] =>
      String(request.headers[name] ?? '')
        .split(',')
        .map(hop => hop.trim())
        .filter(hop => hop !== '');
    const hops = header('x-forwarded-for');
    let address = peer;
    for (let i = hops.length - 1; i >= 0 && isTrusted(address); i--) {
      if (isIP(hops[i]!) === 0) break;
      address = hops[i]!;
    }
    const protos = header('x-forwarded-proto').map(proto => proto.toLowerCase());
    // If any hop was not HTTPS, report that hop.
    return { address, proto: protos.find(proto => proto !== 'https') ?? protos[0] ?? null };
  };
};

/** The first 64 bits of an IPv6 address, as four groups without leading zeros. */
const prefix64 = (address: string): string => {
  const [before, after] = address.split('%', 1)[0]!.split('::') as [string, string?];
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : []);
  const [head, tail] = [groups(before), groups(after)];
  const written = head.length + tail.length + (address.includes('.') ? 1 : 0);
  const all = after === undefined ? head : [...head, ...Array(8 - written).fill('0'), ...tail];
  return all
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':');
};

/** The subject of rate limits: an IPv4 address or an IPv6 /64, the smallest block that one subscriber gets. */
export const limitSubject = (text: string): string => {
  const address = unmapped(text);
  const family = isIP(address);
  if (family === 4) return address;
  return family === 6 ? prefix64(address) : 'unknown';
};
