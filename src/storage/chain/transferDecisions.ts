import type { Environment } from '../../core/environment.ts';
import type { PaymentKey } from '../../core/paymentKey.ts';
import type { Queryable, Row } from '../database.ts';
import { holdChain } from './chains.ts';

/** A canonical transfer that counts for a payment and that Florin could not verify. */
export type UnverifiedTransfer = Row & {
  caip2: string;
  key: string;
  accountId: string;
  environment: Environment;
  paymentId: string;
  txHash: string | null;
  /** Base units, as text. */
  amount: string;
  decimals: number;
  currency: string;
  blockNumber: number;
  firstSeenAt: Date;
};

const columns = `t.caip2, t.key, t.account_id as "accountId", t.environment, t.payment_id as "paymentId",
  t.tx_hash as "txHash", t.amount::text as amount, p.decimals, p.currency, t.block_number::float8 as "blockNumber",
  t.first_seen_at as "firstSeenAt"`;
const withPayment = `transfers t join payments p on p.account_id = t.account_id and p.environment = t.environment
    and p.id = t.payment_id`;

const listStatement = {
  name: 'transfers-unverified-list',
  text: `select ${columns} from ${withPayment}
    where t.canonical and not t.superseded and not t.verified and not t.stray
    order by t.caip2, t.block_number, t.key limit $1`,
};
export const listUnverified = (db: Queryable, limit: number): Promise<UnverifiedTransfer[]> =>
  db.query<UnverifiedTransfer>(listStatement, [limit]);

export type DecidableTransfer = UnverifiedTransfer & { stray: boolean; canonical: boolean; verified: boolean };

const lockStatement = {
  name: 'transfers-lock-one',
  text: `select ${columns}, t.stray, t.canonical and not t.superseded as canonical, t.verified
    from ${withPayment} where t.caip2 = $1 and t.key = $2 for no key update of p`,
};
/** Locks the chain and then the payment, as the reader of the chain does: it must not move the transfer meanwhile. */
export const lockTransfer = async (tx: Queryable, caip2: string, key: string): Promise<DecidableTransfer | null> => {
  await holdChain(tx, caip2);
  return (await tx.query<DecidableTransfer>(lockStatement, [caip2, key]))[0] ?? null;
};

const recordStatement = {
  name: 'transfer-decisions-record',
  text: `insert into transfer_decisions (caip2, key, account_id, environment, payment_id, decided_by, reason)
    values ($1, $2, $3, $4, $5, $6, $7)`,
};
export const recordDecision = async (
  tx: Queryable,
  { caip2, key, accountId, environment, paymentId }: UnverifiedTransfer,
  { by, reason }: { readonly by: string; readonly reason: string },
): Promise<void> => {
  await tx.query(recordStatement, [caip2, key, accountId, environment, paymentId, by, reason]);
};

const wakeNowStatement = {
  name: 'payments-wake-now',
  // The time of the chain's head may be behind the clock, and the decision is about a block that was read before.
  text: `update payments set wake_at = created_at, awaits_read = false
    where account_id = $1 and environment = $2 and id = $3`,
};
/** Makes the sweeper decide the payment at once. */
export const wakeNow = async (tx: Queryable, { accountId, environment, id }: PaymentKey): Promise<void> => {
  await tx.query(wakeNowStatement, [accountId, environment, id]);
};
