import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import type { Environment, Scope } from '../core/environment.ts';
import { type FramedValue, framed, framedText } from './framing.ts';
import { deploymentName, limitKeyOf, type MasterKey, subkey } from './masterKey.ts';

/** What a payment's seal covers. A row fails if any of these was changed or it was copied from another payment. */
export type PaymentSeal = {
  readonly id: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly caip2: string;
  /** The token's contract; null for the native coin. */
  readonly contract: string | null;
  readonly amount: bigint;
  /** Part of the seal, because other decimals would ask for another sum. */
  readonly decimals: number;
  readonly currency: string;
  readonly network: string;
  readonly walletKind: string;
  readonly treasury: string;
  readonly index: bigint;
  readonly address: string;
};

/** The seal of wallets from before changes could be delayed. */
export type WalletSeal = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly network: string;
  readonly kind: string;
  readonly destination: string;
};

/** What authenticates a row of the audit log: its fields, its place, and the hash of the previous row. */
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
  /** The JSON text as stored. */
  readonly detail: string;
  readonly address: string | null;
  /** Null in rows from before there was a register. */
  readonly register: Uint8Array | null;
};

/** Also covers the version and the time from which it is in force; null if it was in force at once. */
export type WalletVersionSeal = WalletSeal & { readonly version: number; readonly takesEffectAtMs: number | null };

export type Vault = {
  /** What makes values now: another object once the master key is another. Throws where none may be made. */
  maker(): object;
  /** The salt of a payment's address: 32 bytes, derived from the master key and not guessable without it. */
  salt(scope: Scope, index: bigint): Uint8Array;
  paymentMac(fields: PaymentSeal): Buffer;
  verifyPaymentMac(fields: PaymentSeal, mac: Uint8Array): boolean;
  walletMac(fields: WalletSeal): Buffer;
  verifyWalletMac(fields: WalletSeal, mac: Uint8Array): boolean;
  /** What is stored of a recovery code. A keyed hash, because such a short code could be guessed from a plain one. */
  recoveryHash(personId: string, code: string): Buffer;
  /** Whether a hash was made with the key in force. Others match no code: a rotation of the key ends recovery codes. */
  isRecoveryHash(hash: Uint8Array): boolean;
  auditHash(fields: AuditSeal): Buffer;
  verifyAuditHash(fields: AuditSeal, hash: Uint8Array): boolean;
  walletVersionMac(fields: WalletVersionSeal): Buffer;
  verifyWalletVersionMac(fields: WalletVersionSeal, mac: Uint8Array): boolean;
  /** Keeps what this deployment has on a shared server apart from what others have there. Not a secret. */
  deploymentName(): string;
  /** Names what a rate limit counts, such as the address of a client, without showing it. */
  limitSubject(subject: string): string;
  /** The seal of a row of the database. Each kind of row has its own key. */
  rowSeal(kind: string, values: readonly FramedValue[]): Buffer;
  isRowSeal(kind: string, values: readonly FramedValue[], seal: Uint8Array): boolean;
  /** Names a person's sign-in in the cookie of a device that it was used on. */
  deviceSubject(email: string): string;
  /** Shows that Florin gave this id to a device, for this subject. */
  deviceMac(subject: string, deviceId: string): string;
  verifyDeviceMac(subject: string, deviceId: string, mac: string): boolean;
  /** Lets a checkout page simulate its own payment and no other. */
  simulateToken(paymentId: string): string;
  verifySimulateToken(paymentId: string, token: string): boolean;
  /** Signs alerts to the operator, in the Standard Webhooks format. */
  alertSecret(): string;
  /** Encrypts. `context` names the place (account, row, purpose), and `open` needs the same context. */
  seal(plaintext: string | Uint8Array, context: readonly string[]): Buffer;
  /** Throws `SealBroken` when the bytes, the context or the master key differ. */
  open(sealed: Uint8Array, context: readonly string[]): Buffer;
};

export class SealBroken extends Error {
  readonly code = 'seal_broken';
}

const sealVersion = 1;
const nonceBytes = 12;
const tagBytes = 16;

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
    throw new SealBroken('encrypted value has an unknown format');
  }
  const nonce = sealed.subarray(1, 1 + nonceBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(framed(context));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plaintext = decipher.update(sealed.subarray(1 + nonceBytes, sealed.length - tagBytes));
  try {
    return Buffer.concat([plaintext, decipher.final()]);
  } catch {
    // `final` fails only if the tag does not match; the plaintext must then not leave this function.
    plaintext.fill(0);
    throw new SealBroken('encrypted value cannot be opened: other context, other master key, or damaged');
  }
};

export const createVault = (masterKey: MasterKey): Vault => {
  const { saltKey } = masterKey;
  const paymentKey = subkey(masterKey, 'payments');
  const walletKey = subkey(masterKey, 'wallets');
  const recoveryKey = subkey(masterKey, 'recovery codes');
  const auditKey = subkey(masterKey, 'audit');
  const walletVersionKey = subkey(masterKey, 'wallet versions');
  const simulateKey = subkey(masterKey, 'simulations');
  const deviceKey = subkey(masterKey, 'devices');
  const alertKey = subkey(masterKey, 'alerts');
  const limitKey = limitKeyOf(masterKey);
  // Nonces are random, so one key is safe for 2^32 values: far more than there are secrets and stored answers.
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
      ...(fields.register === null ? [] : [Buffer.from(fields.register).toString('hex')]),
    ]);

  const deviceMac = (subject: string, deviceId: string): string =>
    hmac(deviceKey, ['device', subject, deviceId]).toString('base64url');

  // It tells whose hash it is. The first key has none, because its hashes had none before keys could be rotated.
  const recoveryTag = masterKey.isRotated ? Buffer.from(masterKey.fingerprint.slice(0, 8), 'hex') : Buffer.alloc(0);
  const isRecoveryHash = (hash: Uint8Array): boolean =>
    hash.length === recoveryTag.length + 32 && recoveryTag.equals(hash.subarray(0, recoveryTag.length));

  const maker = Object.freeze({});
  const rowKeys = new Map<string, KeyObject>();
  const rowSeal = (kind: string, values: readonly FramedValue[]): Buffer => {
    const key = rowKeys.get(kind) ?? subkey(masterKey, `rows/${kind}`);
    rowKeys.set(kind, key);
    return createHmac('sha256', key).update(framedText(values), 'utf8').digest();
  };

  const simulateToken = (paymentId: string): string => hmac(simulateKey, [paymentId]).toString('base64url');

  return {
    maker: () => maker,
    salt: ({ accountId, environment }, index) => hmac(saltKey, [accountId, environment, index]),
    paymentMac,
    verifyPaymentMac: (fields, mac) => equal(paymentMac(fields), mac),
    walletMac,
    verifyWalletMac: (fields, mac) => equal(walletMac(fields), mac),
    recoveryHash: (personId, code) => Buffer.concat([recoveryTag, hmac(recoveryKey, [personId, code])]),
    isRecoveryHash,
    auditHash,
    verifyAuditHash: (fields, hash) => equal(auditHash(fields), hash),
    walletVersionMac,
    verifyWalletVersionMac: (fields, mac) => equal(walletVersionMac(fields), mac),
    deploymentName: () => deploymentName(masterKey),
    limitSubject: subject => hmac(limitKey, [subject]).toString('base64url', 0, 16),
    rowSeal,
    isRowSeal: (kind, values, seal) => equal(rowSeal(kind, values), seal),
    deviceSubject: email => hmac(deviceKey, ['subject', email]).toString('base64url'),
    deviceMac,
    verifyDeviceMac: (subject, deviceId, mac) => equal(Buffer.from(deviceMac(subject, deviceId)), Buffer.from(mac)),
    simulateToken,
    alertSecret: () => `whsec_${hmac(alertKey, ['secret']).toString('base64')}`,
    // Compared as text: several base64 spellings decode to the same bytes.
    verifySimulateToken: (paymentId, token) => equal(Buffer.from(simulateToken(paymentId)), Buffer.from(token)),
    seal: (plaintext, context) => sealWith(sealKey, plaintext, context),
    open: (sealed, context) => openWith(sealKey, sealed, context),
  };
};
