import { hash } from 'node:crypto';
import { invalid } from '../../core/errors.ts';
import type { IdempotentRequest } from '../../engine/idempotency.ts';
import type { Call } from './route.ts';

const nothing = Buffer.alloc(0);

/** The Idempotency-Key of a request and the values it is compared by; null without the header. */
export const idempotencyOf = (call: Call, path: string): IdempotentRequest | null => {
  const key = call.request.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw invalid('Idempotency-Key', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  }
  return {
    route: `POST ${path.split('?', 1)[0]}`,
    key,
    bodyHash: hash('sha256', call.body?.bytes ?? nothing, 'buffer'),
    requestId: call.requestId,
  };
};
