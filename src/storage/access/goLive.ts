import type { Queryable, Row } from '../database.ts';
import { hasSecondFactor } from './people.ts';

export type Readiness = {
  /** Whether an owner has an authenticator app or a passkey. */
  readonly hasSecondFactor: boolean;
  readonly hasLiveKey: boolean;
};

const readinessStatement = {
  name: 'go-live-readiness',
  text: `select
      exists (
        select from memberships m join people p on p.id = m.person_id
        where m.account_id = $1 and m.role = 'owner' and m.removed_at is null
          and ${hasSecondFactor}
      ) as "hasSecondFactor",
      exists (
        select from api_keys where account_id = $1 and environment = 'production' and revoked_at is null
          and (expires_at is null or expires_at > clock_timestamp())
      ) as "hasLiveKey"`,
};
/** Only shown, so forged rows count too. */
export const readReadiness = async (db: Queryable, accountId: string): Promise<Readiness> =>
  (await db.query<Row & Readiness>(readinessStatement, [accountId]))[0]!;

const firstPaymentStatement = {
  name: 'go-live-first-payment',
  text: `select exists (
      select from payments where account_id = $1 and environment = 'production' and status = 'completed'
    ) as completed`,
};
/** Whether a live payment was ever completed and still is. */
export const hasLivePayment = async (db: Queryable, accountId: string): Promise<boolean> =>
  (await db.query<Row & { completed: boolean }>(firstPaymentStatement, [accountId]))[0]!.completed;
