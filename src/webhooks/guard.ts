import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { refuseUrlText } from '../core/url.ts';

export type AddressClass = 'public' | 'loopback' | 'refused';

type Block = readonly [bytes: readonly number[], prefixBits: number];

const block = (cidr: string): Block => {
  const [address, prefixBits] = ipaddr.parseCIDR(cidr);
  return [address.toByteArray(), prefixBits];
};

/** All of IANA's special-purpose registry, reachable or not: no merchant's receiver is there. */
const refusedIpv4: readonly Block[] = [
  '0.0.0.0/8', // "this network", and the unspecified address
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT; one cloud's metadata service
  '169.254.0.0/16', // link-local; most clouds' metadata services
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments; one cloud's metadata service
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '168.63.129.16/32', // a public address that inside one cloud is the host's own agent
].map(block);

/**
 * The only global unicast block of IPv6. Outside it are unspecified, IPv4-mapped and IPv4-compatible addresses, both
 * NAT64 prefixes, discard-only, SRv6, unique-local, link-local, site-local and multicast addresses.
 */
const globalIpv6 = block('2000::/3');

const refusedIpv6: readonly Block[] = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(block);

const loopbackIpv4 = block('127.0.0.0/8');
const loopbackIpv6 = block('::1/128');

/** Classifies an address by its bytes, so that spelling does not matter. Refuses what cannot be parsed. */
export const classifyAddress = (address: string | Uint8Array): AddressClass => {
  const bytes = typeof address === 'string' ? addressBytes(address) : address;
  if (bytes?.length === 4) {
    if (within(bytes, loopbackIpv4)) return 'loopback';
    return refusedIpv4.some(each => within(bytes, each)) ? 'refused' : 'public';
  }
  if (bytes?.length === 16) {
    if (within(bytes, loopbackIpv6)) return 'loopback';
    return within(bytes, globalIpv6) && !refusedIpv6.some(each => within(bytes, each)) ? 'public' : 'refused';
  }
  return 'refused';
};

/** Undefined for anything but a plain address; a zone index is not plain. */
export const addressBytes = (text: string): Uint8Array | undefined => {
  if (isIP(text) === 0 || text.includes('%')) return undefined;
  // ipaddr.js reads "::127.0.0.1" as "::ffff:127.0.0.1"; a socket does not.
  return Uint8Array.from(ipaddr.parse(text.replace(/^::(?=[0-9]+\.)/, '::0:')).toByteArray());
};

const within = (bytes: Uint8Array, [prefix, prefixBits]: Block): boolean => {
  const wholeBytes = prefixBits >> 3;
  for (let index = 0; index < wholeBytes; index++) {
    if (bytes[index] !== prefix[index]) return false;
  }
  const restBits = prefixBits & 7;
  if (restBits === 0) return true;
  const mask = 0xff << (8 - restBits);
  return ((bytes[wholeBytes]! ^ prefix[wholeBytes]!) & mask & 0xff) === 0;
};

/** The host of a URL without IPv6 brackets. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

export const isLocalhostName = (hostname: string): boolean => /^(?:.+\.)?localhost\.?$/i.test(hostname);

/** For the host of a URL. Does not resolve names. */
export const isLoopbackHost = (hostname: string): boolean =>
  isLocalhostName(hostname) || classifyAddress(bareHost(hostname)) === 'loopback';

/**
 * Why a URL cannot be a webhook's, as the end of a sentence; null if it can. A host name is checked again when
 * connecting, once it is resolved. A fragment is allowed and never sent.
 */
export const checkWebhookUrl = (text: string, policy: { readonly allowLoopback: boolean }): string | null => {
  const refused = refuseUrlText(text, policy.allowLoopback);
  if (refused !== null) return refused;
  const url = new URL(text);
  if (url.hostname.endsWith('.')) return 'must not have a host that ends with a dot';
  if (url.port === '0') return 'must not have port 0';

  const host = bareHost(url.hostname);
  const loopback = isLoopbackHost(url.hostname);
  if (isIP(host) !== 0 && !loopback && classifyAddress(host) === 'refused') return 'must have a public address';
  if (loopback && !policy.allowLoopback) return 'must have a public address';
  return null;
};
