import { createHash } from 'node:crypto';
import { HDKey } from '@scure/bip32';

/**
 * The part of an extended public key that determines its addresses: point and chain code. One key can be exported with
 * different depth, fingerprint or version; all give the same addresses, so they must share one series of indexes.
 */
export const xpubIdentity = (xpub: string): string => {
  const { publicKey, chainCode } = HDKey.fromExtendedKey(xpub);
  return createHash('sha256').update(publicKey!).update(chainCode!).digest('hex');
};
