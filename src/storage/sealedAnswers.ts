import type { Environment } from '../core/environment.ts';
import type { LargeTable } from './largeSeals.ts';
import { type SealedFields, sealedColumns, sealedValues, textOf } from './sealedFields.ts';

/** The answer to a request with an idempotency key, as far as its seal covers it. */
export type SealedAnswer = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly route: string;
  readonly key: string;
  readonly bodyHash: Buffer;
  /** Empty unless the request created a payment. */
  readonly resourceId: string;
  readonly status: number;
  readonly response: string | null;
  readonly sealedResponse: Buffer | null;
};

const fields: SealedFields<SealedAnswer> = {
  account_id: ['text', a => a.accountId],
  environment: ['text', a => a.environment],
  route: ['text', a => a.route],
  key: ['text', a => a.key],
  body_hash: ['bytes', a => a.bodyHash.toString('hex')],
  resource_id: ['text', a => a.resourceId],
  status: ['text', a => textOf(a.status)],
  response: ['text', a => a.response],
  sealed_response: ['bytes', a => a.sealedResponse?.toString('hex') ?? null],
};

export const sealedAnswers: LargeTable = {
  table: 'idempotency_keys',
  key: ['account_id', 'environment', 'route', 'key'],
  ...sealedColumns(fields),
  unsealed: 't.status is null',
  open: {
    held_until: 'says only how long a key without an answer is held',
    created_at: 'says only when the answer is forgotten; by the clock of the database, which the writer does not know',
  },
};
export const answerSealValues = sealedValues(fields);
