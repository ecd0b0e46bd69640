import type { Queryable, Row } from '../database.ts';
import { walletsInForce } from '../wallets.ts';

export type Readiness = {
  /** One that is in force and that somebody has found in a wallet of their own. */
  readonly hasSecondFactor: boolean;
  readonly hasLiveKey: boolean;
};

const readinessStatement = {
  name: 'go-live-readiness',
  text: `select
      exists (
        select from json_to_recordset((${walletsInForce('$1', `'production'`)})::json) as w(network text, version int)
          join wallet_verifications v on v.account_id = $1 and v.environment = 'production'
            and v.network = w.network and v.version = w.version
      ) as "hasWallet",
      exists (
        select from people p where p.account_id = $1 and p.role = 'owner' and p.removed_at is null
          and (p.totp_secret is not null
            or exists (select from passkeys k where k.account_id = p.account_id and k.person_id = p.id))
      ) as "hasSecondFactor",
      exists (
        select from api_keys where account_id = $1 and environment = 'production' and revoked_at is null
          and (expires_at is null or expires_at > clock_timestamp())
      ) as "hasLiveKey"`,
};
export const readReadiness = async (db: Queryable, accountId: string): Promise<Readiness> =>
  (await db.query<Row & Readiness>(readinessStatement, [accountId]))[0]!;
