import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Block = [ipaddr.IPv4 | ipaddr.IPv6, number];

const parseBlock = (text: string): Block =>
  text.includes('/')
    ? (ipaddr.parseCIDR(text) as Block)
    : [ipaddr.process(text), ipaddr.process(text).kind() === 'ipv4' ? 32 : 128];

const within = (address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: Block): boolean =>
  address.kind() === base.kind() && address.match(base as never, bits as never);

/** True when the address lies in one of the blocks. An address that cannot be read lies in none. */
export const createAddressMatcher = (blocks: readonly string[]): ((address: string) => boolean) => {
  const parsed = blocks.map(parseBlock);
  return address => ipaddr.isValid(address) && parsed.some(block => within(ipaddr.process(address), block));
};

/**
 * Who sent the request. X-Forwarded-For counts only when the peer is a trusted proxy; then the right-most hop that is not
 * itself one is the client, because everything left of it was written by the client.
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
      if (!ipaddr.isValid(hops[i]!)) break;
      address = hops[i]!;
    }
    const protos = header('x-forwarded-proto').map(proto => proto.toLowerCase());
    // One stretch of the way without TLS is one too many, wherever it was.
    return { address, proto: protos.find(proto => proto !== 'https') ?? protos[0] ?? null };
  };
};

/** What limits are counted by: an IPv4 address, or an IPv6 /64, the least a single subscriber has. */
export const limitSubject = (address: string): string => {
  if (!address.includes(':')) return address;
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':');
};
