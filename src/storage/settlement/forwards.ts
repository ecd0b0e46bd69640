import type { Forward, WatchedBlock } from '../../core/chain.ts';
import { isStoredVerified, storedAmount } from '../chain/movements.ts';
import { columns } from '../columns.ts';
import type { Queryable, Row } from '../database.ts';
import type { RowSealer } from '../largeSeals.ts';
import { forwardJson, isForwardGenuine, type StoredForward, sealForward } from './forwardSeals.ts';

/** A block with what left payment addresses in it. */
export type PlacedForwards = Pick<WatchedBlock, 'hash' | 'number' | 'forwards'>;

type PlacedForward = { readonly forward: Forward; readonly block: PlacedForwards };

const sealOf = (sealer: RowSealer, caip2: string, { forward, block }: PlacedForward): Buffer =>
  sealForward(sealer, {
    ...forward,
    caip2,
    address: forward.from,
    amount: storedAmount(forward),
    blockHash: block.hash,
    blockNumber: block.number,
    verified: isStoredVerified(forward),
  });

/** The first parameter is the chain. */
const placed = columns<PlacedForward & { readonly seal: Buffer }>(
  {
    key: ['text', p => p.forward.key],
    address: ['text', p => p.forward.from],
    contract: ['text', p => p.forward.contract],
    amount: ['numeric', p => storedAmount(p.forward)],
    block_hash: ['text', p => p.block.hash],
    block_number: ['bigint', p => p.block.number],
    verified: ['boolean', p => isStoredVerified(p.forward)],
    tx_hash: ['text', p => p.forward.txHash],
    row_seal: ['bytea', p => p.seal],
  },
  { first: 2 },
);

// `offset 0` as with transfers: payments are looked up one by one.
const insertForwardsStatement = {
  name: 'forwards-insert',
  text: `insert into forwards (caip2, key, account_id, environment, payment_id, contract, amount, block_hash, block_number,
      canonical, verified, tx_hash, recorded_at, row_seal)
    select $1, i.key, p.account_id, p.environment, p.id, i.contract, i.amount, i.block_hash, i.block_number, true,
      i.verified, i.tx_hash, clock_timestamp(), i.row_seal
    from ${placed.rows('i')}
      cross join lateral (select * from payments where address = i.address offset 0) p
    on conflict (caip2, key) do nothing`,
};
/** Writes the forwards of blocks from payment addresses, each once. The blocks must be there already. */
export const insertForwards = async (
  tx: Queryable,
  sealer: RowSealer,
  caip2: string,
  blocks: readonly PlacedForwards[],
): Promise<void> => {
  const forwards = blocks.flatMap(block => block.forwards.map(forward => ({ forward, block })));
  if (forwards.length === 0) return;
  const sealed = forwards.map(each => ({ ...each, seal: sealOf(sealer, caip2, each) }));
  await tx.query(insertForwardsStatement, [caip2, ...placed.values(sealed)]);
};

const unverifiedStatement = {
  name: 'forwards-unverified',
  text: `select ${forwardJson} as forward, p.address from forwards f
      join blocks b on b.caip2 = f.caip2 and b.hash = f.block_hash
      join payments p on p.account_id = f.account_id and p.environment = f.environment and p.id = f.payment_id
    where f.caip2 = $1 and f.key = any($2::text[]) and not f.verified for no key update of f`,
};
const verifyForwardsStatement = {
  name: 'forwards-verify',
  text: `update forwards f set verified = true, row_seal = s.seal
    from unnest($2::text[], $3::bytea[]) as s(key, seal) where f.caip2 = $1 and f.key = s.key`,
};
/** Marks forwards as verified. Returns the keys of those that were changed in the database, which stay unverified. */
export const verifyForwards = async (
  tx: Queryable,
  sealer: RowSealer,
  caip2: string,
  keys: readonly string[],
): Promise<readonly string[]> => {
  if (keys.length === 0) return [];
  const rows = await tx.query<Row & { forward: StoredForward; address: string }>(unverifiedStatement, [caip2, keys]);
  const genuine = rows.filter(({ forward, address }) => isForwardGenuine(sealer, forward, address));
  if (genuine.length > 0) {
    await tx.query(verifyForwardsStatement, [
      caip2,
      genuine.map(({ forward }) => forward.key),
      genuine.map(({ forward, address }) => sealForward(sealer, { ...forward, address, verified: true })),
    ]);
  }
  return rows.filter(row => !genuine.includes(row)).map(({ forward }) => forward.key);
};
