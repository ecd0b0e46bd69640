import { clockSlackMs, type Movement, type WatchedBlock } from '../../core/chain.ts';
import { mostUnits } from '../../core/money.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import type { RowSealer } from '../largeSeals.ts';
import { firstSightings, reviveCoins, sealTransfer } from './transferSeals.ts';

/** A block with what it moved. */
export type PlacedMovements = Pick<WatchedBlock, 'hash' | 'number' | 'timestamp' | 'movements'>;

type Amounted = { readonly amount: bigint; readonly verified: boolean };

/** An amount beyond what is recorded is stored as the most that is, and never as verified. */
export const storedAmount = ({ amount }: Amounted): string => (amount > mostUnits ? mostUnits : amount).toString();
export const isStoredVerified = ({ amount, verified }: Amounted): boolean => verified && amount <= mostUnits;

type PlacedMovement = { readonly movement: Movement; readonly block: PlacedMovements };
type SeenMovement = PlacedMovement & { readonly firstSeenMs: number; readonly seal: Buffer };

const seenAt = (
  sealer: RowSealer,
  caip2: string,
  { movement, block }: PlacedMovement,
  firstSeenMs: number,
): SeenMovement => {
  const seal = sealTransfer(sealer, {
    ...movement,
    caip2,
    address: movement.to,
    sender: movement.from,
    amount: storedAmount(movement),
    blockHash: block.hash,
    blockNumber: block.number,
    blockTimeMs: Math.round(block.timestamp * 1000),
    verified: isStoredVerified(movement),
    superseded: false,
    firstSeenMs,
  });
  return { movement, block, firstSeenMs, seal };
};

/** The first parameter is the chain. */
const placed = columns<SeenMovement>(
  {
    key: ['text', p => p.movement.key],
    address: ['text', p => p.movement.to],
    contract: ['text', p => p.movement.contract],
    tx_hash: ['text', p => p.movement.txHash],
    sender: ['text', p => p.movement.from],
    amount: ['numeric', p => storedAmount(p.movement)],
    block_hash: ['text', p => p.block.hash],
    block_number: ['bigint', p => p.block.number],
    block_time: ['float8', p => p.block.timestamp],
    verified: ['boolean', p => isStoredVerified(p.movement)],
    first_seen_ms: ['float8', p => p.firstSeenMs],
    row_seal: ['bytea', p => p.seal],
  },
  { first: 2 },
);

/**
 * For a payment p and a movement i. Anybody can send to the addresses of an extended public key before they are handed out,
 * and a watcher that is behind reads those blocks after the payment was created. Height and time must both be older: a reorg
 * mines a payer's transaction again in a lower block, and a sequencer that was down catches up with blocks of old times.
 */
const isNotOlder = `(p.wallet_kind = 'forwarder' or i.block_number > p.head_number
        or to_timestamp(i.block_time) >= p.created_at - interval '${clockSlackMs} milliseconds')`;

// Earlier sightings are looked up once per transaction hash. Per transfer, each of a thousand transfers in one
// transaction would read a thousand rows: 10,000 transfers took 4.5 s instead of 0.6. `offset 0` keeps payments looked up one
// by one: a join planned while the table is new would read all of it.
const insertMovementsStatement = {
  name: 'movements-insert',
  text: `with seen as materialized (
      select h.tx_hash, s.payment_id
      from (select distinct tx_hash from unnest(${placed.array('tx_hash')}) as u(tx_hash)) h
        cross join lateral (
          select distinct t.payment_id from transfers t where t.tx_hash = h.tx_hash and t.caip2 = $1
        ) s
      where $${placed.next}
    ), unclaimed as (
      insert into unclaimed_funds (caip2, key, address, contract, tx_hash, sender, amount, block_hash, block_number,
        canonical, verified)
      select $1, i.key, l.address, i.contract, i.tx_hash, i.sender, i.amount, i.block_hash, i.block_number, true, i.verified
      from ${placed.rows('i')}
        cross join lateral (select address from lost_addresses where address = i.address) l
      where not exists (select from payments where address = i.address offset 0)
      on conflict (caip2, key) do nothing returning address
    ), written as (
      insert into transfers (caip2, key, account_id, environment, payment_id, stray, contract, tx_hash, sender,
        amount, block_hash, block_number, canonical, verified, first_seen_at, row_seal)
      select $1, i.key, p.account_id, p.environment, p.id, p.caip2 <> $1 or p.contract is distinct from i.contract,
        i.contract, i.tx_hash, i.sender, i.amount, i.block_hash, i.block_number, true, i.verified,
        to_timestamp(i.first_seen_ms / 1000), i.row_seal
      from ${placed.rows('i')}
        cross join lateral (select * from payments where address = i.address offset 0) p
        left join seen s on s.tx_hash = i.tx_hash and s.payment_id = p.id
      where s.payment_id is null and ${isNotOlder}
      on conflict (caip2, key) do nothing
      returning 1
    ), sighted as materialized (
      select i.key from seen s join ${placed.rows('i')} on i.tx_hash = s.tx_hash
        cross join lateral (select id from payments where address = i.address offset 0) p
      where p.id = s.payment_id
    )
    select (select count(*)::int from written) as written, array(select address from unclaimed) as unclaimed,
      array(
        select key from sighted s where not exists (select from transfers where caip2 = $1 and key = s.key offset 0)
      ) as sighted,
      array(
        select t.key from unnest(${placed.array('key')}, ${placed.array('tx_hash')}) as i(key, tx_hash)
          cross join lateral (select key from transfers where caip2 = $1 and key = i.key and superseded offset 0) t
        where i.tx_hash is null
      ) as superseded`,
};
type Inserted = Row & {
  written: number;
  unclaimed: readonly string[];
  /** Keys of movements that were not written: their transactions were seen before, in other blocks. */
  sighted: readonly string[];
  /** Keys of coin that is on record and does not count. */
  superseded: readonly string[];
};
/** `looks`: leaves out movements whose transactions were seen before. */
const insertSeen = async (
  tx: Queryable,
  caip2: string,
  movements: readonly SeenMovement[],
  looks: boolean,
): Promise<Inserted> =>
  (await tx.query<Inserted>(insertMovementsStatement, [caip2, ...placed.values(movements), looks]))[0]!;

/** How many transfers were not on record, and the addresses whose payments a restore lost. */
export type WrittenMovements = {
  readonly written: number;
  readonly unclaimed: readonly string[];
  /** Keys of transfers that were changed in the database. */
  readonly forged: readonly string[];
};

/**
 * Writes the transfers of blocks to payment addresses, each once. Others are left out, and so is what an address of an
 * extended public key received before its payment. The blocks must be there already. More addresses are watched than a
 * restore lost, so one of these may belong to a payment by now. What a reorg moved to another block was first seen in the
 * earlier one.
 */
export const insertMovements = async (
  tx: Queryable,
  sealer: RowSealer,
  { caip2, nowMs }: { readonly caip2: string; readonly nowMs: number },
  blocks: readonly PlacedMovements[],
): Promise<WrittenMovements> => {
  const movements = blocks.flatMap(block => block.movements.map(movement => ({ movement, block })));
  if (movements.length === 0) return { written: 0, unclaimed: [], forged: [] };
  const fresh = movements.map(placedMovement => seenAt(sealer, caip2, placedMovement, nowMs));
  const { written, unclaimed, sighted, superseded } = await insertSeen(tx, caip2, fresh, true);
  const { changed, forged } = await reviveCoins(tx, sealer, caip2, superseded);
  if (sighted.length === 0) return { written: written + changed, unclaimed, forged };
  const keys = new Set(sighted);
  const moved = movements.filter(({ movement }) => keys.has(movement.key));
  const txHashes = [...new Set(moved.map(({ movement }) => movement.txHash!))];
  const times = await firstSightings(tx, sealer, caip2, txHashes);
  const repeated = moved.map(each => {
    const { txHash, to } = each.movement;
    return seenAt(sealer, caip2, each, Math.min(nowMs, times.get(`${txHash} ${to}`) ?? nowMs));
  });
  const again = await insertSeen(tx, caip2, repeated, false);
  return { written: written + changed + again.written, unclaimed, forged };
};
