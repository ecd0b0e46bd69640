import type { Scope } from '../core/environment.ts';
import type { Queryable, Row } from './database.ts';

/** How long the API promises to keep an answer. The operator may keep it longer. */
export const promisedHours = 24;

export type KeptAnswer = Row & {
  bodyHash: Buffer;
  resourceId: string;
  status: number | null;
  response: string | null;
  sealedResponse: Buffer | null;
  held: boolean;
  seal: Buffer | null;
};

export type AnswerToKeep = {
  status: number;
  response: string | null;
  sealedResponse: Buffer | null;
  seal: Buffer;
};

/** One request's hold on a key. */
export type Hold = { route: string; key: string; heldUntil: Date };

const claimStatement = {
  name: 'idempotency-claim',
  text: `insert into idempotency_keys as k (account_id, environment, route, key, body_hash, resource_id, held_until, created_at)
    values ($1, $2, $3, $4, $5, '', clock_timestamp() + make_interval(secs => $6), clock_timestamp())
    on conflict (account_id, environment, route, key) do update set body_hash = excluded.body_hash, resource_id = '',
      status = null, response = null, sealed_response = null, row_seal = null, held_until = excluded.held_until,
      created_at = excluded.created_at
    where k.created_at <= excluded.created_at - $7 * interval '1 hour'
      or (k.status is null and k.held_until <= clock_timestamp())
    returning held_until as "heldUntil"`,
};
/**
 * Returns until when this request holds the key; null when an earlier request has it. Waits for an uncommitted holder.
 * A request that takes over an expired hold gets a later time, so the time also tells holders apart.
 */
export const claimIdempotencyKey = async (
  db: Queryable,
  scope: Scope,
  request: { route: string; key: string; bodyHash: Buffer; holdSeconds: number; keptHours?: number },
): Promise<Date | null> => {
  const values = [
    scope.accountId,
    scope.environment,
    request.route,
    request.key,
    request.bodyHash,
    request.holdSeconds,
    request.keptHours ?? promisedHours,
  ];
  return (await db.query<{ heldUntil: Date }>(claimStatement, values))[0]?.heldUntil ?? null;
};

const readStatement = {
  name: 'idempotency-read',
  text: `select body_hash as "bodyHash", resource_id as "resourceId", status, response,
      sealed_response as "sealedResponse", coalesce(held_until > clock_timestamp(), false) as held,
      row_seal as seal
    from idempotency_keys where account_id = $1 and environment = $2 and route = $3 and key = $4
      and created_at > clock_timestamp() - $5 * interval '1 hour'`,
};
export const readIdempotencyKey = async (
  db: Queryable,
  scope: Scope,
  { route, key }: { readonly route: string; readonly key: string },
  keptHours = promisedHours,
): Promise<KeptAnswer | null> => {
  const values = [scope.accountId, scope.environment, route, key, keptHours];
  return (await db.query<KeptAnswer>(readStatement, values))[0] ?? null;
};

const keepStatement = {
  name: 'idempotency-keep',
  text: `update idempotency_keys set status = $5, response = $6, sealed_response = $7, row_seal = $9,
      held_until = null
    where account_id = $1 and environment = $2 and route = $3 and key = $4 and held_until = $8`,
};
/** Stores the answer and ends the hold. A holder that took too long has lost the key and changes nothing. */
export const keepAnswer = async (db: Queryable, scope: Scope, hold: Hold, answer: AnswerToKeep): Promise<void> => {
  const { status, response, sealedResponse, seal } = answer;
  const place = [scope.accountId, scope.environment, hold.route, hold.key];
  await db.query(keepStatement, [...place, status, response, sealedResponse, hold.heldUntil, seal]);
};

const releaseStatement = {
  name: 'idempotency-release',
  text: `delete from idempotency_keys where account_id = $1 and environment = $2 and route = $3 and key = $4
    and held_until = $5`,
};
export const releaseIdempotencyKey = async (db: Queryable, scope: Scope, hold: Hold): Promise<void> => {
  await db.query(releaseStatement, [scope.accountId, scope.environment, hold.route, hold.key, hold.heldUntil]);
};

// The subselect reads the clock once: a volatile timestamp cannot bound an index scan.
const purgeStatement = {
  name: 'idempotency-purge',
  text: `delete from idempotency_keys where (account_id, environment, route, key) in (
    select account_id, environment, route, key from idempotency_keys
    where created_at <= (select clock_timestamp()) - $2 * interval '1 hour' order by created_at limit $1) returning 1 as n`,
};
export const purgeIdempotencyKeys = async (db: Queryable, limit: number, keptHours = promisedHours): Promise<number> =>
  (await db.query(purgeStatement, [limit, keptHours])).length;
