/** An address as one number. Nothing here is shared with the guard, so that an error in one is not in the other. */
export type Address = { readonly bits: 32 | 128; readonly value: bigint };

/** Both ends belong to it. */
export type Block = {
  readonly name: string;
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly last: bigint;
};

/** Reads dotted IPv4 and colon-separated IPv6 as the URL parser and the system write them. */
export const readAddress = (text: string): Address => {
  if (!text.includes(':')) return { bits: 32, value: number(text.split('.').map(Number), 8) };
  const [head, tail] = text.split('::').map(groupsOf);
  if (head === undefined || tail === undefined) return { bits: 128, value: number(groupsOf(text), 16) };
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return { bits: 128, value: number([...head, ...zeros, ...tail], 16) };
};

const groupsOf = (text: string): number[] =>
  text === ''
    ? []
    : text.split(':').flatMap(group => {
        if (!group.includes('.')) return [Number.parseInt(group, 16)];
        const [a, b, c, d] = group.split('.').map(Number) as [number, number, number, number];
        return [a * 256 + b, c * 256 + d];
      });

const number = (parts: readonly number[], bitsEach: number): bigint => {
  if (parts.length * bitsEach !== (bitsEach === 8 ? 32 : 128)) throw new Error('That is not a whole address');
  return parts.reduce((sum, part) => (sum << BigInt(bitsEach)) | BigInt(part), 0n);
};

const block = (cidr: string, name: string): Block => {
  const [text, prefix] = cidr.split('/') as [string, string];
  const { bits, value } = readAddress(text);
  return { name, bits, first: value, last: value + (1n << BigInt(bits - Number(prefix))) - 1n };
};

/** IANA's registries of special-purpose addresses row by row, then those of multicast and of retired blocks. */
export const specialBlocks: readonly Block[] = [
  block('127.0.0.0/8', 'loopback'),
  block('::1/128', 'loopback'),

  block('0.0.0.0/32', 'unspecified'),
  block('0.0.0.0/8', 'this network'),
  block('10.0.0.0/8', 'private'),
  block('100.64.0.0/10', 'carrier-grade NAT'),
  block('169.254.0.0/16', 'link-local'),
  block('172.16.0.0/12', 'private'),
  block('192.0.0.0/29', 'IPv4 service continuity'),
  block('192.0.0.8/32', 'dummy'),
  block('192.0.0.9/32', 'port control anycast'),
  block('192.0.0.10/32', 'TURN anycast'),
  block('192.0.0.170/31', 'NAT64 discovery'),
  block('192.0.0.0/24', 'protocol assignments'),
  block('192.0.2.0/24', 'documentation'),
  block('192.31.196.0/24', 'AS112'),
  block('192.52.193.0/24', 'AMT'),
  block('192.88.99.0/24', '6to4 relays'),
  block('192.168.0.0/16', 'private'),
  block('192.175.48.0/24', 'AS112'),
  block('198.18.0.0/15', 'benchmarking'),
  block('198.51.100.0/24', 'documentation'),
  block('203.0.113.0/24', 'documentation'),
  block('224.0.0.0/4', 'multicast'),
  block('255.255.255.255/32', 'broadcast'),
  block('240.0.0.0/4', 'reserved'),

  block('::/128', 'unspecified'),
  block('::ffff:0:0/96', 'IPv4-mapped'),
  block('::ffff:0:0:0/96', 'IPv4-translated'),
  block('::/96', 'IPv4-compatible'),
  block('64:ff9b::/96', 'NAT64'),
  block('64:ff9b:1::/48', 'local NAT64'),
  block('100::/64', 'discard-only'),
  block('100:0:0:1::/64', 'dummy'),
  block('2001::/32', 'Teredo'),
  block('2001:1::1/128', 'port control anycast'),
  block('2001:1::2/128', 'TURN anycast'),
  block('2001:1::3/128', 'service registration anycast'),
  block('2001:2::/48', 'benchmarking'),
  block('2001:3::/32', 'AMT'),
  block('2001:4:112::/48', 'AS112'),
  block('2001:10::/28', 'ORCHID'),
  block('2001:20::/28', 'ORCHID'),
  block('2001:30::/28', 'drone identity'),
  block('2001::/23', 'protocol assignments'),
  block('2001:db8::/32', 'documentation'),
  block('2002::/16', '6to4'),
  block('2620:4f:8000::/48', 'AS112'),
  block('3fff::/20', 'documentation'),
  block('5f00::/16', 'segment routing'),
  block('fc00::/7', 'unique-local'),
  block('fe80::/10', 'link-local'),
  block('fec0::/10', 'site-local'),
  block('ff00::/8', 'multicast'),
];

/** Metadata services of clouds, which hold a machine's credentials. Only the first is in no special block. */
export const metadataServices: readonly Block[] = [
  block('168.63.129.16/32', 'metadata'),
  block('169.254.169.254/32', 'metadata'),
  block('169.254.170.2/32', 'metadata'),
  block('169.254.170.23/32', 'metadata'),
  block('100.100.100.200/32', 'metadata'),
  block('192.0.0.192/32', 'metadata'),
  block('fd00:ec2::254/128', 'metadata'),
  block('fd00:ec2::23/128', 'metadata'),
  block('fd20:ce::254/128', 'metadata'),
  block('fd00:c1::a9fe:a9fe/128', 'metadata'),
];

/** The one block of IPv6 from which global addresses are given out; all others are reserved. */
export const globalUnicast: Block = block('2000::/3', 'public');

const contains = (each: Block, { bits, value }: Address): boolean =>
  each.bits === bits && each.first <= value && value <= each.last;

/** The purpose of an address; `public` if it has no special one. */
export const purposeOf = (address: Address): string => {
  const special = [...metadataServices, ...specialBlocks].find(each => contains(each, address));
  if (special !== undefined) return special.name;
  return address.bits === 32 || contains(globalUnicast, address) ? 'public' : 'unallocated';
};

/** The expected class. */
export const expectedClass = (address: Address): 'public' | 'loopback' | 'refused' => {
  const purpose = purposeOf(address);
  return purpose === 'public' || purpose === 'loopback' ? purpose : 'refused';
};
