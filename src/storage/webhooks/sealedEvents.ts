import type { Environment } from '../../core/environment.ts';
import type { LargeTable } from '../largeSeals.ts';
import { msOf, type SealedFields, sealedColumns, sealedValues, textOf } from '../sealedFields.ts';

/** An event as far as its seal covers it: as a whole. */
export type SealedEvent = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly id: string;
  readonly paymentId: string | null;
  readonly sequence: number | null;
  readonly type: string;
  readonly status: string | null;
  readonly exception: string | null;
  readonly previousStatus: string | null;
  readonly previousException: string | null;
  readonly body: string;
  readonly createdAt: Date;
};

/** For the alias e. */
export const eventColumns = `e.account_id as "accountId", e.environment, e.id, e.payment_id as "paymentId", e.sequence, e.type,
  e.status, e.exception, e.previous_status as "previousStatus", e.previous_exception as "previousException", e.body,
  e.created_at as "createdAt", e.row_seal as seal`;

const fields: SealedFields<SealedEvent> = {
  account_id: ['text', e => e.accountId],
  environment: ['text', e => e.environment],
  id: ['text', e => e.id],
  payment_id: ['text', e => e.paymentId],
  sequence: ['text', e => textOf(e.sequence)],
  type: ['text', e => e.type],
  status: ['text', e => e.status],
  exception: ['text', e => e.exception],
  previous_status: ['text', e => e.previousStatus],
  previous_exception: ['text', e => e.previousException],
  body: ['text', e => e.body],
  created_at: ['time', e => msOf(e.createdAt)],
};

export const sealedEvents: LargeTable = {
  table: 'events',
  key: ['account_id', 'environment', 'id'],
  ...sealedColumns(fields),
  open: { trace: 'names the trace that webhooks carry on; nothing is decided by it' },
};
export const eventSealValues = sealedValues(fields);

/** Where a callback goes. */
export type SealedCallback = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly eventId: string;
  readonly url: string;
};

const callbackFields: SealedFields<SealedCallback> = {
  account_id: ['text', c => c.accountId],
  environment: ['text', c => c.environment],
  event_id: ['text', c => c.eventId],
  callback_url: ['text', c => c.url],
};

const schedule = 'says only when and how often the delivery is sent';
const result = 'shown only';

export const sealedCallbacks: LargeTable = {
  table: 'deliveries',
  key: ['account_id', 'environment', 'id'],
  ...sealedColumns(callbackFields),
  // Both its event and its endpoint are sealed, and foreign keys hold it to one account.
  unsealed: 't.endpoint_id is not null',
  open: {
    id: 'follows from the event and the target; a trigger refuses another',
    endpoint_id: 'names a sealed endpoint of the same account; null in a callback',
    status: schedule,
    next_attempt_at: schedule,
    failures: schedule,
    claim: schedule,
    claimed_by: schedule,
    claimed_until: schedule,
    attempts: result,
    parked_reason: result,
    created_at: result,
    finished_at: result,
  },
};
export const callbackSealValues = sealedValues(callbackFields);
