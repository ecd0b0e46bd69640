import type { Environment } from '../../core/environment.ts';
import type { Queryable } from '../database.ts';

export type KeyUse = { accountId: string; environment: Environment; keyId: string; usedAtMs: number };

const recordStatement = {
  name: 'key-uses-record',
  text: `insert into key_uses as u (account_id, environment, key_id, last_used_at)
    select k.account_id, k.environment, k.id, to_timestamp(used.used_ms / 1000.0)
    from unnest($1::text[], $2::environment[], $3::text[], $4::float8[]) as used(account_id, environment, key_id, used_ms)
      join api_keys k on k.account_id = used.account_id and k.environment = used.environment and k.id = used.key_id
    order by 1, 2, 3
    on conflict (account_id, environment, key_id)
      do update set last_used_at = greatest(u.last_used_at, excluded.last_used_at)`,
};
/** Records many uses in one statement; unknown keys are skipped. Ordered, so that two processes cannot deadlock. */
export const recordKeyUses = async (db: Queryable, uses: readonly KeyUse[]): Promise<void> => {
  if (uses.length === 0) return;
  await db.query(recordStatement, [
    uses.map(use => use.accountId),
    uses.map(use => use.environment),
    uses.map(use => use.keyId),
    uses.map(use => use.usedAtMs),
  ]);
};
