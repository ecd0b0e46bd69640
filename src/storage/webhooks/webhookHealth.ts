import type { Scope } from '../../core/environment.ts';
import { firstIdAt } from '../../core/ids.ts';
import { countedDeliveries, type WebhookHealth } from '../../core/webhookHealth.ts';
import type { Queryable, Row } from '../database.ts';

export type EndpointHealth = WebhookHealth & { readonly id: string; readonly url: string; readonly status: string };

const counts = `count(*) filter (where d.status = 'succeeded')::int as succeeded,
  count(*) filter (where d.status = 'scheduled' and d.failures > 0)::int as retrying,
  count(*) filter (where d.status = 'scheduled' and d.failures = 0)::int as waiting,
  count(*) filter (where d.status = 'parked')::int as parked,
  coalesce(sum(a.failed), 0)::int as "failedAttempts"`;

// One attempt that succeeded is the usual case and needs no lookup. A delivery that is sent again counts its failures anew,
// so the attempts themselves are read.
const failedAttempts = `left join lateral (
    select count(*) as failed from delivery_attempts t where t.account_id = d.account_id and t.environment = d.environment
      and t.delivery_id = d.id and t.error is not null
  ) a on d.attempts > (d.status = 'succeeded')::int`;
const counted = 'account_id, environment, id, endpoint_id, status, failures, attempts';

const endpointsStatement = {
  name: 'health-endpoints',
  text: `select w.id, w.url, w.status, h.* from webhook_endpoints w cross join lateral (
      select ${counts} from (values ('succeeded'), ('scheduled'), ('parked')) as s(status) cross join lateral (
        select ${counted} from deliveries where endpoint_id = w.id and account_id = w.account_id
          and environment = w.environment and status = s.status and id >= $3 order by id desc limit ${countedDeliveries}
      ) d ${failedAttempts}
    ) h where w.account_id = $1 and w.environment = $2 and w.deleted_at is null order by w.id limit 50`,
};

// Among the account's newest deliveries of any kind: an index of callbacks alone would slow down every delivery.
const callbacksStatement = {
  name: 'health-callbacks',
  text: `select ${counts} from (
      select * from (
        select ${counted} from deliveries where account_id = $1 and environment = $2 and id >= $3
        order by id desc limit ${countedDeliveries}
      ) newest where endpoint_id is null
    ) d ${failedAttempts}`,
};

/** Counts deliveries of events since then by outcome, per endpoint, and callbacks among the newest deliveries. */
export const webhookHealth = async (
  db: Queryable,
  scope: Scope,
  sinceMs: number,
): Promise<{ endpoints: EndpointHealth[]; callbacks: WebhookHealth }> => {
  const values = [scope.accountId, scope.environment, firstIdAt('delivery', sinceMs)];
  return {
    endpoints: await db.query<Row & EndpointHealth>(endpointsStatement, values),
    callbacks: (await db.query<Row & WebhookHealth>(callbacksStatement, values))[0]!,
  };
};

const answeredStatement = {
  name: 'health-answered',
  text: `select exists (
      select from webhook_endpoints w where w.account_id = $1 and w.environment = $2 and w.deleted_at is null
        and w.status = 'enabled' and (w.tested_at is not null or exists (
          select from deliveries d where d.endpoint_id = w.id and d.account_id = w.account_id
            and d.environment = w.environment and d.status = 'succeeded'))
    ) or exists (
      select from (
        select endpoint_id, status from deliveries where account_id = $1 and environment = $2
        order by id desc limit ${countedDeliveries}
      ) newest where endpoint_id is null and status = 'succeeded'
    ) as answered`,
};
/** Whether an enabled endpoint has ever accepted a delivery or a test event, or a callback one of the newest deliveries. */
export const hasAnsweringReceiver = async (db: Queryable, scope: Scope): Promise<boolean> =>
  (await db.query<{ answered: boolean }>(answeredStatement, [scope.accountId, scope.environment]))[0]!.answered;
