import { ECDH } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { invalid } from '../../core/errors.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import { addressOfBytes } from './address.ts';
import { keccak256 } from './keccak.ts';

const maxIndex = 0x7fff_ffff;

/** The m/0 node of each extended public key. */
const receivingNodes = createRecentMap<HDKey>(256);

/** Deriving a child costs about a millisecond, and a list page shows a hundred of them. */
const derivedAddresses = createRecentMap<string>(20_000);

const parseReceivingNode = (xpub: string): HDKey => {
  // Checked by prefix before anything is decoded: a private key must not get any further.
  if (/^[a-zA-Z]prv/.test(xpub)) {
    throw invalid(
      'xpub',
      'This is an extended private key. Keep it secret and never paste it anywhere: anyone who has it can take the money. Enter the extended public key (xpub…).',
    );
  }
  if (!/^xpub[1-9A-HJ-NP-Za-km-z]{107}$/.test(xpub)) {
    throw invalid(
      'xpub',
      'This is not an extended public key. It must have 111 base58 characters and begin with xpub.',
    );
  }
  let node: HDKey;
  try {
    node = HDKey.fromExtendedKey(xpub);
  } catch {
    throw invalid('xpub', 'This is not an extended public key: its checksum or content is wrong.');
  }
  return node.deriveChild(0);
};

const receivingNode = (xpub: string): HDKey => {
  const cached = receivingNodes.get(xpub);
  if (cached) return cached;
  const node = parseReceivingNode(xpub);
  receivingNodes.set(xpub, node);
  return node;
};

const deriveUncached = (xpub: string, index: number): string => {
  const publicKey = receivingNode(xpub).deriveChild(index).publicKey!;
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed');
  // The first byte marks the point as uncompressed. The address is made from the two coordinates after it.
  return addressOfBytes(keccak256((point as Buffer).subarray(1)).subarray(12));
};

/** The checksummed address at m/0/index below an extended public key. */
export const deriveXpubAddress = (xpub: string, index: number): string => {
  if (!Number.isInteger(index) || index < 0 || index > maxIndex) {
    throw new RangeError('an address index is a whole number below 2^31');
  }
  const cacheKey = `${index}/${xpub}`;
  const cached = derivedAddresses.get(cacheKey);
  if (cached !== undefined) return cached;
  const address = deriveUncached(xpub, index);
  derivedAddresses.set(cacheKey, address);
  return address;
};
