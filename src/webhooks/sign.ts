import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { createRecentMap } from '../core/recentMap.ts';

export type SignedHeaders = {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
};

type Message = {
  /** `whsec_…`. During a rotation both the old and the new secret sign. */
  readonly secrets: readonly string[];
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string | Buffer;
};

const secretPrefix = 'whsec_';

/** Standard Webhooks 1.0: HMAC-SHA-256 over the id, the timestamp and the exact bytes of the body. */
export const signWebhook = ({ secrets, id, timestampSeconds, body }: Message): SignedHeaders => {
  if (secrets.length === 0) throw new Error('A webhook needs at least one secret');
  if (!/^[\x21-\x2d\x2f-\x7e]+$/.test(id)) throw new Error('A webhook id must be visible ASCII without a dot');
  if (!Number.isSafeInteger(timestampSeconds) || timestampSeconds < 0)
    throw new Error('A webhook timestamp must be whole seconds');
  const signed = `${id}.${timestampSeconds}.`;
  const signatures = secrets.map(secret => {
    const mac = createHmac('sha256', keyOf(secret)).update(signed).update(body);
    return `v1,${mac.digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures.join(' '),
  };
};

/** Creating a key costs several times as much as signing with it. */
const keys = createRecentMap<KeyObject>(10_000);

const keyOf = (secret: string): KeyObject => {
  const cached = keys.get(secret);
  if (cached !== undefined) return cached;
  const key = createSecretKey(secretBytes(secret));
  keys.set(secret, key);
  return key;
};

const secretBytes = (secret: string): Buffer => {
  const text = secret.slice(secretPrefix.length);
  const bytes = Buffer.from(text, 'base64');
  const wellFormed = secret.startsWith(secretPrefix) && bytes.toString('base64') === text;
  // The limits are from the specification. The message must not contain the secret.
  if (!wellFormed || bytes.length < 24 || bytes.length > 64) throw new Error('A webhook secret is malformed');
  return bytes;
};
