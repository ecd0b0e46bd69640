import type { Scope } from '../../core/environment.ts';
import type { Queryable, Row } from '../database.ts';
import { sealedUpdate, sealsOf, toSeal } from '../seals.ts';
import { askForDeliveries } from './deliveryNews.ts';

export type EndpointRow = Row & {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  status: 'enabled' | 'disabled';
  disabledReason: string | null;
  secret: Buffer;
  /** Newest first. `previousSecretsUntil` has the end of the overlap of each. */
  previousSecrets: Buffer[];
  previousSecretsUntil: Date[];
  createdAt: Date;
};

/** For the alias t. */
const columns = `t.id, t.url, t.events, t.description, t.status, t.disabled_reason as "disabledReason", t.secret,
  t.previous_secrets as "previousSecrets", t.previous_secrets_until as "previousSecretsUntil", t.created_at as "createdAt"`;
const live = 't.account_id = $1 and t.environment = $2 and t.deleted_at is null';
const seals = sealsOf({ t: 'webhook_endpoints' });

const lockStatement = {
  name: 'endpoint-lock-settings',
  text: `select 1 as locked from account_settings where account_id = $1 and environment = $2 for update`,
};
const countStatement = {
  name: 'endpoint-count',
  text: `select count(*)::int as total from webhook_endpoints t where ${live}`,
};
/** Counts the endpoints. Until the transaction ends, other calls of this function wait, so that none is added. */
export const countEndpointsLocked = async (tx: Queryable, scope: Scope): Promise<number> => {
  const values = [scope.accountId, scope.environment];
  await tx.query(lockStatement, values);
  // A separate statement, to see what was committed during the wait for the lock.
  return (await tx.query<{ total: number }>(countStatement, values))[0]!.total;
};

const insertStatement = {
  name: 'endpoint-insert',
  text: `insert into webhook_endpoints as t (account_id, environment, id, url, events, description, secret, created_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}, ${toSeal('webhook_endpoints', 't')}`,
};
export const insertEndpoint = async (
  db: Queryable,
  scope: Scope,
  endpoint: Pick<EndpointRow, 'id' | 'url' | 'events' | 'description' | 'secret' | 'createdAt'>,
): Promise<EndpointRow> => {
  const { id, url, events, description, secret, createdAt } = endpoint;
  const values = [scope.accountId, scope.environment, id, url, events, description, secret, createdAt];
  return (await db.query<EndpointRow>(insertStatement, values))[0]!;
};

const readStatement = {
  name: 'endpoint-read',
  text: `select ${columns}, ${seals} from webhook_endpoints t where ${live} and t.id = $3`,
};
export const readEndpoint = async (db: Queryable, scope: Scope, id: string): Promise<EndpointRow | null> =>
  (await db.query<EndpointRow>(readStatement, [scope.accountId, scope.environment, id]))[0] ?? null;

const listStatement = {
  name: 'endpoint-list',
  text: `with mine as materialized (select t.* from webhook_endpoints t where ${live}),
    page as (select id from mine order by id desc limit $3 offset $4)
    select ${columns}, counted.total, ${seals} from (select count(*)::int as total from mine) counted
      left join page on true
      left join webhook_endpoints t on t.account_id = $1 and t.environment = $2 and t.id = page.id
    order by t.id desc`,
};
export const listEndpoints = async (
  db: Queryable,
  scope: Scope,
  page: { limit: number; offset: number },
): Promise<{ rows: EndpointRow[]; total: number }> => {
  const values = [scope.accountId, scope.environment, page.limit, page.offset];
  const rows = await db.query<EndpointRow & { total: number }>(listStatement, values);
  return { rows: rows.filter(row => row.id !== null), total: rows[0]?.total ?? 0 };
};

export type EndpointChange = Partial<Pick<EndpointRow, 'url' | 'events' | 'description' | 'status'>>;

const updateStatement = {
  name: 'endpoint-update',
  text: sealedUpdate('webhook_endpoints', {
    set: {
      url: 'coalesce($4, t.url)',
      events: 'coalesce($5, t.events)',
      description: 'case when $6 then $7 else t.description end',
      status: 'coalesce($8, t.status)',
      disabled_reason: `case when $8 = 'enabled' then null when $8 = 'disabled' and t.status = 'enabled'
        then 'disabled by the merchant' else t.disabled_reason end`,
      failing_since: `case when $8 = 'enabled' or $4 <> t.url then null else t.failing_since end`,
    },
    where: `${live} and t.id = $3`,
    returning: columns,
  }),
};
export const updateEndpoint = async (
  db: Queryable,
  scope: Scope,
  id: string,
  change: EndpointChange,
): Promise<EndpointRow | null> => {
  const rows = await db.query<EndpointRow>(updateStatement, [
    scope.accountId,
    scope.environment,
    id,
    change.url ?? null,
    change.events ?? null,
    change.description !== undefined,
    change.description ?? null,
    change.status ?? null,
  ]);
  return rows[0] ?? null;
};

const announceStatement = {
  name: 'endpoint-announce',
  text: `select ${askForDeliveries('$1::text', '$2::environment', '$3::text')}`,
};
/** Makes the deliverer try the endpoint now: somebody changed it, so a pause after failures need not run out. */
export const announceEndpoint = async (db: Queryable, scope: Scope, id: string): Promise<void> => {
  await db.query(announceStatement, [scope.accountId, scope.environment, id]);
};

const testedStatement = {
  name: 'endpoint-tested',
  text: `update webhook_endpoints t set tested_at = clock_timestamp() where ${live} and t.id = $3`,
};
/** Records that the receiver accepted a test event. */
export const markEndpointTested = async (db: Queryable, scope: Scope, id: string): Promise<void> => {
  await db.query(testedStatement, [scope.accountId, scope.environment, id]);
};

const rotateStatement = {
  name: 'endpoint-rotate',
  text: sealedUpdate('webhook_endpoints', {
    set: {
      secret: '$4',
      previous_secrets: '(array_prepend(t.secret, t.previous_secrets))[:5]',
      previous_secrets_until: `(array_prepend(clock_timestamp() + interval '24 hours', t.previous_secrets_until))[:5]`,
    },
    where: `${live} and t.id = $3`,
    returning: columns,
  }),
};
/** The old secret signs beside the new one for 24 hours. At most five old secrets are kept. */
export const rotateEndpointSecret = async (
  db: Queryable,
  scope: Scope,
  id: string,
  secret: Buffer,
): Promise<EndpointRow | null> =>
  (await db.query<EndpointRow>(rotateStatement, [scope.accountId, scope.environment, id, secret]))[0] ?? null;

const deleteStatement = {
  name: 'endpoint-delete',
  text: sealedUpdate('webhook_endpoints', {
    set: { deleted_at: 'clock_timestamp()' },
    where: `${live} and t.id = $3`,
    returning: 't.id',
  }),
};
/** Hides the endpoint. The row stays, because its deliveries are history. */
export const deleteEndpoint = async (db: Queryable, scope: Scope, id: string): Promise<boolean> =>
  (await db.query<{ id: string }>(deleteStatement, [scope.accountId, scope.environment, id])).length > 0;
