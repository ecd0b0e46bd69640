import type { Queryable, Row } from '../database.ts';

export type Standing = {
  /** Whether the person has an authenticator app or a passkey. */
  readonly hasSecondFactor: boolean;
  /** Whether the account has a live key that works or a live wallet. */
  readonly isLive: boolean;
};

const standingStatement = {
  name: 'person-standing',
  text: `select
      exists (select from people p where p.id = $2 and (p.totp_secret is not null
        or exists (select from passkeys k where k.person_id = p.id))) as "hasSecondFactor",
      exists (select from api_keys where account_id = $1 and environment = 'production' and revoked_at is null
          and (expires_at is null or expires_at > clock_timestamp()))
        or exists (select from wallets where account_id = $1 and environment = 'production') as "isLive"`,
};
export const readStanding = async (
  db: Queryable,
  { accountId, personId }: { readonly accountId: string; readonly personId: string },
): Promise<Standing> => (await db.query<Row & Standing>(standingStatement, [accountId, personId]))[0]!;
