import type { Environment } from '../core/environment.ts';
import type { Queryable } from './database.ts';

export type KeyUse = { accountId: string; environment: Environment; keyId: string; usedAtMs: number };

const recordStatement = {
  name: 'key-uses-record',
  text: `insert into key_uses as u (account_id, environment, key_id, last_used_at)
    select account_id, environment, key_id, to_timestamp(used_ms / 1000.0)
    from unnest($1::text[], $2::environment[], $3::text[], $4::float8[]) as used(account_id, environment, key_id, used_ms)
    order by account_id, environment, key_id
    on conflict (account_id, environment, key_id)
      do update set last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
};
/** Many keys in one statement, in an order that is everybody's, so that two processes do not wait for each other. */
export const recordKeyUses = async (db: Queryable, uses: readonly KeyUse[]): Promise<void> => {
  if (uses.length === 0) return;
  await db.query(recordStatement, [
    uses.map(use => use.accountId),
    uses.map(use => use.environment),
    uses.map(use => use.keyId),
    uses.map(use => use.usedAtMs),
  ]);
};
