import type { Queryable, Row } from '../database.ts';
import { sealsOf } from '../seals.ts';
import { hasSecondFactor } from './people.ts';

export type Standing = {
  /** Whether the person has an authenticator app or a passkey. */
  readonly hasSecondFactor: boolean;
  /** Whether the account has a live key that works or a live wallet. */
  readonly isLive: boolean;
};

const standingStatement = {
  name: 'person-standing',
  text: `select ${hasSecondFactor} as "hasSecondFactor",
      exists (select from api_keys where account_id = $1 and environment = 'production' and revoked_at is null
          and (expires_at is null or expires_at > clock_timestamp()))
        or exists (select from wallets where account_id = $1 and environment = 'production') as "isLive",
      ${sealsOf({ p: 'people' })}
    from people p where p.id = $2`,
};
/** Of a person whose row is forged, null. A key or wallet that is forged only asks for more. */
export const readStanding = async (
  db: Queryable,
  { accountId, personId }: { readonly accountId: string; readonly personId: string },
): Promise<Standing | null> => (await db.query<Row & Standing>(standingStatement, [accountId, personId]))[0] ?? null;
