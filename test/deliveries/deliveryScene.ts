import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { type Log, silentLog } from '../../src/core/log.ts';
import { revealCallbackSecret } from '../../src/engine/access/accounts.ts';
import { accountEvent } from '../../src/engine/webhooks/eventSeal.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver } from './receiver.ts';

export type DeliveryRow = {
  readonly id: string;
  readonly eventId: string;
  readonly endpointId: string | null;
  readonly type: string;
  readonly status: 'scheduled' | 'succeeded' | 'parked';
  readonly attempts: number;
  readonly failures: number;
  readonly parkedReason: string | null;
  readonly nextAttemptAt: Date | null;
  readonly isClaimed: boolean;
};

export type AttemptRow = {
  readonly at: Date;
  readonly claim: string;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number;
  readonly response: Buffer;
};

/** An account, and what it does. */
export type Merchant = {
  readonly account: TestAccount;
  readonly calls: PaymentCalls;
  /** A request to the sandbox; any status. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** An endpoint that is enabled, with its secret. */
  endpoint(url: string, fields?: object): Promise<{ id: string; secret: string }>;
  callbackSecret(): Promise<string>;
};

export type DeliveryScene = {
  readonly florin: TestFlorin;
  /** The settings of another process that delivers what this one makes. */
  readonly deliverer: Readonly<Record<string, string>>;
  merchant(): Promise<Merchant>;
  receiver(answer?: Receiver['answer']): Promise<Receiver>;
  /** As the owner of the database. */
  // biome-ignore lint/suspicious/noExplicitAny: tests know what they ask for.
  sql(text: string, ...values: unknown[]): Promise<any[]>;
  /** Deliveries of a payment or an endpoint, or the one of this id, by event and target. */
  deliveries(of: { id: string }): Promise<DeliveryRow[]>;
  /** The deliveries, once they match. */
  untilDeliveries(of: { id: string }, isWanted: (rows: DeliveryRow[]) => boolean): Promise<DeliveryRow[]>;
  /** The only delivery, once it matches. */
  untilDelivery(of: { id: string }, isWanted: (row: DeliveryRow) => boolean): Promise<DeliveryRow>;
  attempts(deliveryId: string): Promise<AttemptRow[]>;
  /** Inserts events of no payment, each with a due delivery to the endpoint that has failed this often. */
  backlog(merchant: Merchant, endpoint: { id: string }, count: number, failures?: number): Promise<void>;
  /** Makes the next attempts due now. */
  makeDue(of: { id: string }): Promise<void>;
};

const rowsOf = `from deliveries d join events e
  on e.account_id = d.account_id and e.environment = d.environment and e.id = d.event_id
  where (e.payment_id = $1 or d.endpoint_id = $1 or d.id = $1)`;

const merchantOf = (florin: TestFlorin, account: TestAccount): Merchant => {
  const call: Merchant['call'] = (method, path, body) =>
    florin.client.call(method, `/v1${path}`, { key: account.keys.sandbox, body });
  return {
    account,
    calls: paymentCalls(florin, account),
    call,
    async endpoint(url, fields = {}) {
      const answer = await call('POST', '/webhooks', { url, ...fields });
      expect(answer.status, answer.text).toBe(200);
      return answer.json;
    },
    callbackSecret: () => revealCallbackSecret(florin.admin, { accountId: account.id, environment: 'sandbox' }),
  };
};

/** A Florin that serves, watches its dev chain and delivers. */
export const startDeliveryScene = async (options: { roles?: string; log?: Log } = {}): Promise<DeliveryScene> => {
  const { roles = 'api,watch,deliver', ...others } = options;
  const masterKey = randomBytes(32).toString('hex');
  const florin = await startTestFlorin({ ...others, env: { FLORIN_ROLES: roles, FLORIN_MASTER_KEY: masterKey } });
  // Connections of its own: tests end those of Florin.
  const settings = { log: silentLog, maxConnections: 2, applicationName: 'delivery scene' };
  const db = openDatabase({ connectionString: florin.config.database!.url }, settings);
  atEndOfFile(db.close);
  const sql: DeliveryScene['sql'] = (text, ...values) => db.query({ name: '', text }, values);
  const deliveries: DeliveryScene['deliveries'] = ({ id }) =>
    sql(
      `select d.id, d.event_id as "eventId", d.endpoint_id as "endpointId", e.type, d.status, d.attempts,
        d.failures::int, d.parked_reason as "parkedReason", d.next_attempt_at as "nextAttemptAt",
        d.claimed_until is not null as "isClaimed" ${rowsOf} order by d.event_id, d.endpoint_id nulls first`,
      id,
    );
  const untilDeliveries: DeliveryScene['untilDeliveries'] = (of, isWanted) => until(() => deliveries(of), isWanted);
  return {
    florin,
    deliverer: {
      DATABASE_URL: florin.config.database!.url,
      FLORIN_ROLES: 'deliver',
      FLORIN_MASTER_KEY: masterKey,
      FLORIN_PUBLIC_URL: florin.florin.urls.production,
      FLORIN_SANDBOX_PUBLIC_URL: florin.florin.urls.sandbox,
      FLORIN_PORT: '0',
      FLORIN_SANDBOX_PORT: '0',
    },
    sql,
    deliveries,
    untilDeliveries,
    merchant: async () => merchantOf(florin, await florin.account()),
    async untilDelivery(of, isWanted) {
      const rows = await untilDeliveries(of, rows => rows.length === 1 && isWanted(rows[0]!));
      return rows[0]!;
    },
    async receiver(answer) {
      const receiver = await startReceiver(answer);
      return receiver;
    },
    attempts: deliveryId =>
      sql(
        `select at, claim::text, status_code::int as "statusCode", error, duration_ms as "durationMs", response
          from delivery_attempts where delivery_id = $1 order by claim`,
        deliveryId,
      ),
    async backlog({ account }, { id }, count, failures = 0) {
      // In parts, so that no statement takes long on a slow machine.
      for (let left = count; left > 0; left -= 2_000) {
        const scope = { accountId: account.id, environment: 'sandbox' } as const;
        const createdAt = new Date();
        const events = Array.from({ length: Math.min(left, 2_000) }, (_, n) => {
          const id = `evt_${randomBytes(13).toString('hex')}`;
          const event = { id, type: 'webhook.test', body: JSON.stringify({ n }), createdAt };
          return accountEvent(florin.admin.vault, scope, event);
        });
        await sql(
          `with made as (
              insert into events (account_id, environment, id, type, body, created_at, row_seal)
              select $1, 'sandbox', id, 'webhook.test', body, $3, seal
              from unnest($5::text[], $6::text[], $7::bytea[]) as e(id, body, seal)
              returning account_id, environment, id, created_at
            )
            insert into deliveries (account_id, environment, id, event_id, endpoint_id, failures, next_attempt_at, created_at)
            select account_id, environment, delivery_id(id, $2), id, $2, $4, created_at, created_at from made`,
          account.id,
          id,
          createdAt,
          failures,
          events.map(event => event.id),
          events.map(event => event.body),
          events.map(event => event.seal),
        );
      }
    },
    async makeDue({ id }) {
      await sql(
        `update deliveries set next_attempt_at = clock_timestamp() - interval '1 second'
          where status = 'scheduled' and id in (select d.id ${rowsOf})`,
        id,
      );
    },
  };
};
