import type { PaymentKey } from '../../core/paymentKey.ts';
import type { Queryable, Row } from '../database.ts';
import type { RowSealer } from '../largeSeals.ts';
import { isTripleSealed, type SealedTriple, sealedJson } from '../seals.ts';
import { forwardJson, isForwardGenuine, type StoredForward } from '../settlement/forwardSeals.ts';
import { baselineJson, isBaselineGenuine, type StoredBaseline } from './baselineSeals.ts';
import { isTransferGenuine, type StoredTransfer, transferJson } from './transferSeals.ts';

/**
 * A recorded change of an address's native coin: forwards are negative, corrections either, others positive. Transfers are
 * known by their transaction or found by balance.
 */
export type CoinChange = {
  readonly blockNumber: number;
  readonly amount: string;
  readonly source: 'baseline' | 'transaction' | 'balance' | 'forward' | 'correction';
};

export type CoinPayment = Row &
  PaymentKey & {
    address: string;
    walletKind: 'forwarder' | 'xpub';
    createdAt: Date;
    /**
     * What is known of the address before its payment existed. Nobody could know a forwarder's address. An address of an
     * extended public key has a baseline: `known`, read before the creation and part of `changes`, `later`, or `none`.
     */
    baseline: 'empty' | 'known' | 'later' | 'none';
    /** The later baseline, as text. Above it, coin is unexplained. */
    laterBaseline: string | null;
    /** The newest block that was known at the creation; null for forwarders, and for payments of earlier versions. */
    headNumber: number | null;
    changes: readonly CoinChange[];
    forwards: readonly StoredForward[];
    /** A record of the address was changed in the database: what is missing according to it must not be credited. */
    isForged: boolean;
  };

/** A correction of the address in any token, with what its seal covers. */
type StoredCorrection = Omit<CoinChange, 'source'> & {
  readonly contract: string | null;
  readonly sealed: SealedTriple;
};

type CoinRecord =
  | { readonly transfer: StoredTransfer; readonly forward?: never; readonly correction?: never }
  | { readonly transfer?: never; readonly forward: StoredForward; readonly correction?: never }
  | { readonly transfer?: never; readonly forward?: never; readonly correction: StoredCorrection };

/** As it is read, with the records that its changes follow from. */
type UncheckedPayment = Pick<CoinPayment, 'address' | 'baseline'> & {
  readonly records: readonly CoinRecord[];
  readonly baselineRow: StoredBaseline | null;
};

const changesOf = ({ transfer, forward, correction }: CoinRecord): CoinChange[] => {
  const { blockNumber, amount, contract } = transfer ?? forward ?? correction;
  if (contract !== null) return [];
  if (forward) return [{ blockNumber, amount: `-${amount}`, source: 'forward' }];
  const source = correction ? 'correction' : transfer.txHash === null ? 'balance' : 'transaction';
  return [{ blockNumber, amount, source }];
};

/** What the address held before its payment. */
const baselineChange = ({ baseline, baselineRow }: UncheckedPayment): CoinChange[] =>
  baseline === 'known' && baselineRow !== null && baselineRow.amount !== '0'
    ? [{ blockNumber: 0, amount: baselineRow.amount, source: 'baseline' }]
    : [];

/** A baseline is found by its chain and address, which its seal covers. */
const isForged = (sealer: RowSealer, { address, records, baselineRow }: UncheckedPayment): boolean =>
  (baselineRow !== null && !isBaselineGenuine(sealer, baselineRow)) ||
  records.some(
    ({ transfer, forward, correction }) =>
      (transfer && !isTransferGenuine(sealer, transfer, address)) ||
      (forward && !isForwardGenuine(sealer, forward, address)) ||
      (correction && !isTripleSealed(sealer, correction.sealed)),
  );

/** Rows with `coinColumns`: what their addresses held follows from records, which are held against their seals. */
export const checkCoins = <P extends CoinPayment>(sealer: RowSealer, rows: readonly Row[]): P[] =>
  rows.map(row => {
    const unchecked = row as unknown as UncheckedPayment;
    const { records, baselineRow: _, ...rest } = unchecked;
    const changes = [...baselineChange(unchecked), ...records.flatMap(changesOf)];
    const forwards = records.flatMap(({ forward = [] }) => forward);
    return { ...rest, changes, forwards, isForged: isForged(sealer, unchecked) } as unknown as P;
  });

/** How many blocks back a reorg may reach. */
const recentBlocks = 256;

/** For the alias p, with the chain as $1. */
export const coinColumns = `p.account_id as "accountId", p.environment, p.id, p.address,
  p.wallet_kind as "walletKind", p.created_at as "createdAt",
  case when p.wallet_kind = 'forwarder' then 'empty' when a.read_at is null then 'none'
    when a.read_at <= p.created_at then 'known' else 'later' end as baseline,
  case when a.read_at > p.created_at then a.amount::text end as "laterBaseline",
  p.head_number::float8 as "headNumber", case when a.read_at is not null then ${baselineJson} end as "baselineRow",
  coalesce((
    select json_agg(r.record) from (
      select json_build_object('transfer', ${transferJson}) as record from transfers t
        join blocks b on b.caip2 = t.caip2 and b.hash = t.block_hash
      where t.account_id = p.account_id and t.environment = p.environment and t.payment_id = p.id
        and t.caip2 = $1 and t.contract is null and t.canonical and not t.superseded
      union all
      select json_build_object('forward', ${forwardJson}) from forwards f
        join blocks b on b.caip2 = f.caip2 and b.hash = f.block_hash
      where f.account_id = p.account_id and f.environment = p.environment and f.payment_id = p.id
        and f.caip2 = $1 and f.contract is null and f.canonical and f.verified
      union all
      select json_build_object('correction', json_build_object('blockNumber', c.block_number, 'amount', c.amount::text,
        'contract', c.contract, 'sealed', ${sealedJson('ledger_corrections', 'c')})) from ledger_corrections c
      where c.account_id = p.account_id and c.environment = p.environment and c.payment_id = p.id and c.caip2 = $1
    ) r), '[]') as records`;
/** Joins what `coinColumns` needs. */
export const baselineJoin = `left join address_baselines a
  on p.wallet_kind = 'xpub' and a.caip2 = $1 and a.address = p.address`;

const openCoinsStatement = {
  name: 'coins-open',
  text: `select ${coinColumns}
    from (
      (select account_id, environment, id, address, wallet_kind, created_at, head_number from payments
        where caip2 = $1 and contract is null and status in ('pending', 'confirming', 'reversed') and id > $2
          order by id limit $3)
      union all
      (select distinct l.account_id, l.environment, l.id, l.address, l.wallet_kind, l.created_at, l.head_number
        from chains c
          join transfers t on t.caip2 = c.caip2 and t.block_number > c.latest_number - ${recentBlocks}
            and t.superseded
          join payments l on l.account_id = t.account_id and l.environment = t.environment and l.id = t.payment_id
        where c.caip2 = $1 and l.status = 'expired' and l.id > $2
        order by l.id limit $3)
    ) p ${baselineJoin}
    order by p.id limit $3`,
};
/**
 * Native-coin payments that wait for funds, ordered by id, with all recorded changes of their addresses. Expired ones
 * are among them if a reorg took their coin, which may arrive again in another block.
 */
export const openCoinPayments = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<CoinPayment[]> => checkCoins(sealer, await db.query(openCoinsStatement, [caip2, after, limit]));

export type ClosedPayment = CoinPayment & { isOver: boolean };

const closedStatement = {
  name: 'coins-closed',
  text: `select ${coinColumns},
      p.expires_at + p.late_window_seconds * interval '1 second' < clock_timestamp() as "isOver"
    from (
      select * from payments where caip2 = $1 and watched and status in ('expired', 'canceled', 'completed') and id > $2
      order by id limit $3
    ) p ${baselineJoin} order by p.id`,
};
/** Closed payments whose balance is still read, in any currency, ordered by id; `isOver` once their late window is. */
export const closedPayments = async (
  db: Queryable,
  sealer: RowSealer,
  caip2: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ClosedPayment[]> => checkCoins(sealer, await db.query(closedStatement, [caip2, after, limit]));

const unwatchStatement = {
  name: 'coins-unwatch',
  text: `update payments set watched = false where id = any($1::text[])
    and status in ('expired', 'canceled', 'completed')`,
};
/** Stops reading the balances of closed payments. */
export const unwatchPayments = async (db: Queryable, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0) await db.query(unwatchStatement, [ids]);
};

// Not held against seals: the answer only leaves coin out.
const foundSinceStatement = {
  name: 'coins-found-since',
  text: `select distinct p.address from payments p
      join transfers t on t.account_id = p.account_id and t.environment = p.environment and t.payment_id = p.id
    where p.address = any($2::text[]) and t.caip2 = $1 and t.contract is null and t.tx_hash is null and t.canonical
      and not t.superseded and t.block_number >= $3`,
};
/** Those addresses whose coin was found by balance at this height or above: that balance includes all earlier coin. */
export const addressesFoundSince = async (
  tx: Queryable,
  caip2: string,
  addresses: readonly string[],
  number: number,
): Promise<ReadonlySet<string>> => {
  if (addresses.length === 0) return new Set();
  const rows = await tx.query<Row & { address: string }>(foundSinceStatement, [caip2, addresses, number]);
  return new Set(rows.map(({ address }) => address));
};
