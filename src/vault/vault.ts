import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { Environment, Scope } from '../core/environment.ts';
import { type FramedValue, framed } from './framing.ts';
import type { MasterKey } from './masterKey.ts';

/** What a payment's seal covers: a row changed in any of these, or copied from another payment, does not verify. */
export type PaymentSeal = {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly caip2: string;
  /** The token's contract; null for the native coin. */
  readonly contract: string | null;
  readonly amount: bigint;
  /** What the amount is shown in: changed, it would ask for another sum. */
  readonly decimals: number;
  readonly currency: string;
  readonly network: string;
  readonly walletKind: string;
  readonly treasury: string;
  readonly index: bigint;
  readonly address: string;
};

/** Of wallets from before they had changes that wait. */
export type WalletSeal = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly network: string;
  readonly kind: string;
  readonly destination: string;
};

/** What a row of the audit log is authenticated with: itself, its place, and the row before it. */
export type AuditSeal = {
  readonly accountId: string;
  readonly sequence: bigint;
  readonly previousHash: Uint8Array;
  readonly atMs: number;
  readonly environment: Environment | null;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly actorName: string;
  readonly action: string;
  readonly subject: string | null;
  /** JSON, as it is stored. */
  readonly detail: string;
  readonly address: string | null;
};

/** Bound to its number as well, and to the time from which it is in force; null for one that never waited. */
export type WalletVersionSeal = WalletSeal & { readonly version: number; readonly takesEffectAtMs: number | null };

export type Vault = {
  /** The salt of a receiving address: 32 bytes, recoverable from the master key alone, and not guessable without it. */
  salt(scope: Scope, index: bigint): Uint8Array;
  paymentMac(fields: PaymentSeal): Buffer;
  verifyPaymentMac(fields: PaymentSeal, mac: Uint8Array): boolean;
  walletMac(fields: WalletSeal): Buffer;
  verifyWalletMac(fields: WalletSeal, mac: Uint8Array): boolean;
  /** What is stored of a recovery code, which is short enough to be guessed from a plain hash. */
  recoveryHash(personId: string, code: string): Buffer;
  auditHash(fields: AuditSeal): Buffer;
  verifyAuditHash(fields: AuditSeal, hash: Uint8Array): boolean;
  walletVersionMac(fields: WalletVersionSeal): Buffer;
  verifyWalletVersionMac(fields: WalletVersionSeal, mac: Uint8Array): boolean;
  /** What a checkout page carries to pretend that its own payment is paid; worth nothing for any other. */
  simulateToken(paymentId: string): string;
  verifySimulateToken(paymentId: string, token: string): boolean;
  /** Encrypts for a place: `context` names it (tenant, row, purpose), and the same context is needed to open. */
  seal(plaintext: string | Uint8Array, context: readonly string[]): Buffer;
  /** Throws `SealBroken` when anything differs: the bytes, the context or the master key. */
  open(sealed: Uint8Array, context: readonly string[]): Buffer;
};

export class SealBroken extends Error {
  readonly code = 'seal_broken';
}

const sealVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;

/** Each purpose has a key of its own, so that a value made for one means nothing to another. */
const subkey = (master: MasterKey, label: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', master.secret, '', `florin/v1/${label}`, 32)));

const hmac = (key: KeyObject, values: readonly FramedValue[]): Buffer =>
  createHmac('sha256', key).update(framed(values)).digest();

const equal = (expected: Uint8Array, given: Uint8Array): boolean =>
  expected.length === given.length && timingSafeEqual(expected, given);

const sealWith = (key: KeyObject, plaintext: string | Uint8Array, context: readonly string[]): Buffer => {
  const header = Buffer.concat([Buffer.from([sealVersion]), randomBytes(nonceBytes)]);
  const cipher = createCipheriv('aes-256-gcm', key, header.subarray(1), { authTagLength: tagBytes });
  cipher.setAAD(framed(context));
  const bytes = typeof plaintext === 'string' ? Buffer.from(plaintext, 'utf8') : plaintext;
  const ciphertext = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([header, ciphertext, cipher.getAuthTag()]);
};

const openWith = (key: KeyObject, sealed: Uint8Array, context: readonly string[]): Buffer => {
  if (sealed.length < 1 + nonceBytes + tagBytes || sealed[0] !== sealVersion) {
    throw new SealBroken('a sealed value has no known form');
  }
  const nonce = sealed.subarray(1, 1 + nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(framed(context));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plaintext = decipher.update(sealed.subarray(1 + nonceBytes, sealed.length - tagBytes));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    // `final` fails for one reason only, the tag; the plaintext so far must not leave this function.
    plaintext.fill(0);
    throw new SealBroken('a sealed value does not open here');
  }
};

export const createVault = (masterKey: MasterKey): Vault => {
  const saltKey = subkey(masterKey, 'salts');
  const paymentKey = subkey(masterKey, 'payments');
  const walletKey = subkey(masterKey, 'wallets');
  const recoveryKey = subkey(masterKey, 'recovery codes');
  const auditKey = subkey(masterKey, 'audit');
  const walletVersionKey = subkey(masterKey, 'wallet versions');
  const simulateKey = subkey(masterKey, 'simulations');
  // Nonces are random: one key is good for 2^32 seals, far beyond the number of secrets and kept answers.
  const sealKey = subkey(masterKey, 'seals');

  const paymentMac = (fields: PaymentSeal): Buffer =>
    hmac(paymentKey, [
      fields.id,
      fields.accountId,
      fields.environment,
      fields.caip2,
      fields.contract,
      fields.amount,
      BigInt(fields.decimals),
      fields.currency,
      fields.network,
      fields.walletKind,
      fields.treasury,
      fields.index,
      fields.address,
    ]);
  const walletMac = (fields: WalletSeal): Buffer =>
    hmac(walletKey, [fields.accountId, fields.environment, fields.network, fields.kind, fields.destination]);
  const walletVersionMac = (fields: WalletVersionSeal): Buffer =>
    hmac(walletVersionKey, [
      fields.accountId,
      fields.environment,
      fields.network,
      fields.kind,
      fields.destination,
      BigInt(fields.version),
      fields.takesEffectAtMs === null ? null : BigInt(fields.takesEffectAtMs),
    ]);

  const auditHash = (fields: AuditSeal): Buffer =>
    hmac(auditKey, [
      fields.accountId,
      fields.sequence,
      Buffer.from(fields.previousHash).toString('hex'),
      BigInt(fields.atMs),
      fields.environment,
      fields.actorKind,
      fields.actorId,
      fields.actorName,
      fields.action,
      fields.subject,
      fields.detail,
      fields.address,
    ]);

  const simulateToken = (paymentId: string): string => hmac(simulateKey, [paymentId]).toString('base64url');

  return {
    salt: ({ accountId, environment }, index) => hmac(saltKey, [accountId, environment, index]),
    paymentMac,
    verifyPaymentMac: (fields, mac) => equal(paymentMac(fields), mac),
    walletMac,
    verifyWalletMac: (fields, mac) => equal(walletMac(fields), mac),
    recoveryHash: (personId, code) => hmac(recoveryKey, [personId, code]),
    auditHash,
    verifyAuditHash: (fields, hash) => equal(auditHash(fields), hash),
    walletVersionMac,
    verifyWalletVersionMac: (fields, mac) => equal(walletVersionMac(fields), mac),
    simulateToken,
    // As text: several spellings of base64 decode to the same bytes, and one token is enough.
    verifySimulateToken: (paymentId, token) => equal(Buffer.from(simulateToken(paymentId)), Buffer.from(token)),
    seal: (plaintext, context) => sealWith(sealKey, plaintext, context),
    open: (sealed, context) => openWith(sealKey, sealed, context),
  };
};
