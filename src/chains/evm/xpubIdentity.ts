import { createHash } from 'node:crypto';
import { HDKey } from '@scure/bip32';

/**
 * What an extended public key derives from: its point and chain code. The same key is exported in several wrappings
 * (depth, fingerprint, version) that all give the same addresses, and so must share one series of indexes.
 */
export const xpubIdentity = (xpub: string): string => {
  const { publicKey, chainCode } = HDKey.fromExtendedKey(xpub);
  return createHash('sha256').update(publicKey!).update(chainCode!).digest('hex');
};
