import type { Scope } from '../../core/environment.ts';
import { firstIdAt } from '../../core/ids.ts';
import type { Queryable, Row } from '../database.ts';

export type Health = {
  readonly succeeded: number;
  /** Failed at least once, and scheduled for a retry. */
  readonly failed: number;
  /** Not tried yet. */
  readonly waiting: number;
  readonly parked: number;
};
export type EndpointHealth = Health & { readonly id: string; readonly url: string; readonly status: string };

/** Counting stops here: "a thousand" tells a reader as much as a million. */
export const countedDeliveries = 1_000;

const counts = `count(*) filter (where d.status = 'succeeded')::int as succeeded,
  count(*) filter (where d.status = 'scheduled' and d.failures > 0)::int as failed,
  count(*) filter (where d.status = 'scheduled' and d.failures = 0)::int as waiting,
  count(*) filter (where d.status = 'parked')::int as parked`;

const endpointsStatement = {
  name: 'health-endpoints',
  text: `select w.id, w.url, w.status, h.* from webhook_endpoints w cross join lateral (
      select ${counts} from (values ('succeeded'), ('scheduled'), ('parked')) as s(status) cross join lateral (
        select status, failures from deliveries where endpoint_id = w.id and account_id = w.account_id
          and environment = w.environment and status = s.status and id >= $3 order by id desc limit ${countedDeliveries}
      ) d
    ) h where w.account_id = $1 and w.environment = $2 and w.deleted_at is null order by w.id limit 50`,
};

// Among the account's newest deliveries to any target: no index has callbacks alone, and every delivery would pay for
// one.
const callbacksStatement = {
  name: 'health-callbacks',
  text: `select ${counts} from (
      select status, failures from (
        select endpoint_id, status, failures from deliveries where account_id = $1 and environment = $2 and id >= $3
        order by id desc limit ${countedDeliveries}
      ) newest where endpoint_id is null
    ) d`,
};

/** Counts deliveries of events since then by outcome, per endpoint, and callbacks among the newest deliveries. */
export const webhookHealth = async (
  db: Queryable,
  scope: Scope,
  sinceMs: number,
): Promise<{ endpoints: EndpointHealth[]; callbacks: Health }> => {
  const values = [scope.accountId, scope.environment, firstIdAt('delivery', sinceMs)];
  return {
    endpoints: await db.query<Row & EndpointHealth>(endpointsStatement, values),
    callbacks: (await db.query<Row & Health>(callbacksStatement, values))[0]!,
  };
};

const answeredStatement = {
  name: 'health-answered',
  text: `select exists (
      select from webhook_endpoints w where w.account_id = $1 and w.environment = $2 and w.deleted_at is null
        and w.status = 'enabled' and (w.tested_at is not null or exists (
          select from deliveries d where d.endpoint_id = w.id and d.account_id = w.account_id
            and d.environment = w.environment and d.status = 'succeeded'))
    ) as answered`,
};
/** Whether an enabled endpoint has ever accepted a delivery or a test event. */
export const hasAnsweringEndpoint = async (db: Queryable, scope: Scope): Promise<boolean> =>
  (await db.query<{ answered: boolean }>(answeredStatement, [scope.accountId, scope.environment]))[0]!.answered;
