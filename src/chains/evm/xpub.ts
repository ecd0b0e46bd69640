import { ECDH } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { invalid } from '../../core/errors.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import { addressOfBytes } from './address.ts';
import { keccak256 } from './keccak.ts';

const maxIndex = 0x7fff_ffff;

/** The m/0 node of each extended public key in use. */
const receivingNodes = createRecentMap<HDKey>(256);

/** A child costs a multiplication on the curve, about a millisecond, and a page of a list shows a hundred of them. */
const derivedAddresses = createRecentMap<string>(20_000);

const parseReceivingNode = (xpub: string): HDKey => {
  // Told apart by the prefix before anything is decoded: a private key must not get any further than this.
  if (/^[a-zA-Z]prv/.test(xpub)) {
    throw invalid(
      'xpub',
      'This is an extended private key. Keep it secret and never paste it anywhere: whoever has it can take the money. Give the extended public key (xpub…).',
    );
  }
  if (!/^xpub[1-9A-HJ-NP-Za-km-z]{107}$/.test(xpub)) {
    throw invalid('xpub', 'Not an extended public key: expected 111 base58 characters that begin with xpub.');
  }
  let node: HDKey;
  try {
    node = HDKey.fromExtendedKey(xpub);
  } catch {
    throw invalid('xpub', 'Not an extended public key: its checksum or content is wrong.');
  }
  return node.deriveChild(0);
};

const receivingNode = (xpub: string): HDKey => {
  const known = receivingNodes.get(xpub);
  if (known) return known;
  const node = parseReceivingNode(xpub);
  receivingNodes.set(xpub, node);
  return node;
};

const deriveAnew = (xpub: string, index: number): string => {
  const publicKey = receivingNode(xpub).deriveChild(index).publicKey!;
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed');
  // The first byte says "uncompressed"; an address is made of the two coordinates after it.
  return addressOfBytes(keccak256((point as Buffer).subarray(1)).subarray(12));
};

/** The checksummed EVM address of m/0/index below an extended public key. */
export const deriveXpubAddress = (xpub: string, index: number): string => {
  if (!Number.isInteger(index) || index < 0 || index > maxIndex) {
    throw new RangeError('an address index is a whole number below 2^31');
  }
  const place = `${index}/${xpub}`;
  const known = derivedAddresses.get(place);
  if (known !== undefined) return known;
  const address = deriveAnew(xpub, index);
  derivedAddresses.set(place, address);
  return address;
};
