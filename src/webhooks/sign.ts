import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { createRecentMap } from '../core/recentMap.ts';

export type SignedHeaders = {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
};

type Message = {
  /** `whsec_…`. During a rotation both the old and the new one sign. */
  readonly secrets: readonly string[];
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string | Buffer;
};

const secretPrefix = 'whsec_';

/** Signs as Standard Webhooks 1.0 says: HMAC-SHA-256 over id, time and the very bytes of the body. */
export function signWebhook({ secrets, id, timestampSeconds, body }: Message): SignedHeaders {
  if (secrets.length === 0) throw new Error('A webhook needs at least one secret');
  if (!/^[\x21-\x2d\x2f-\x7e]+$/.test(id)) throw new Error('A webhook id is visible ASCII without a dot');
  if (!Number.isSafeInteger(timestampSeconds) || timestampSeconds < 0) throw new Error('A timestamp is whole seconds');
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
}

/** Making a key costs several times what signing with it does. */
const keys = createRecentMap<KeyObject>(10_000);

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const key = createSecretKey(secretBytes(secret));
  keys.set(secret, key);
  return key;
}

function secretBytes(secret: string): Buffer {
  const text = secret.slice(secretPrefix.length);
  const bytes = Buffer.from(text, 'base64');
  const wellFormed = secret.startsWith(secretPrefix) && bytes.toString('base64') === text;
  // The bounds are the specification's. The message says nothing of the secret.
  if (!wellFormed || bytes.length < 24 || bytes.length > 64) throw new Error('A webhook secret is malformed');
  return bytes;
}
