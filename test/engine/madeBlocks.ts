import type { Block, Movement, WatchedBlock } from '../../src/core/chain.ts';
import type { BlocksStep } from '../../src/engine/chain/applyBlocks.ts';
import { type Lease, takeLease } from '../../src/storage/chain/chains.ts';
import type { Database } from '../../src/storage/database.ts';
import type { QuietScene } from '../workers/quietScene.ts';

export const caip2 = 'eip155:31337';
export const contract: string = '0x00000000000000000000000000000000000000C0';

/** From the fork on, each branch has its own hashes. */
export const hashOf = (branch: string, number: number): string =>
  `0x${Buffer.from(`${branch}${number}`).toString('hex').padStart(64, '0')}`;

export type Coming = {
  readonly to: string;
  readonly amount: bigint;
  readonly tx?: string;
  readonly contract?: string | null;
};

const movementIn =
  (hash: string) =>
  ({ to, amount, tx = hash, contract: coin = contract }: Coming, index: number): Movement => ({
    key: `${hash}:log:${index}`,
    txHash: tx,
    from: null,
    to,
    contract: coin,
    amount,
    verified: true,
  });

/** The payments of the quiet scene were created two hours ago and their time ended an hour ago. */
const blockTime = Math.floor(Date.now() / 1000) - 5_400;

/** Linked blocks from a height on. `coming` gives the transfers by height. */
export const makeBlocks = (
  parent: Pick<Block, 'number' | 'hash'>,
  branch: string,
  count: number,
  coming: Readonly<Record<number, readonly Coming[]>> = {},
): WatchedBlock[] => {
  const blocks: WatchedBlock[] = [];
  for (let number = parent.number + 1; number <= parent.number + count; number++) {
    const hash = hashOf(branch, number);
    const parentHash = blocks.at(-1)?.hash ?? parent.hash;
    const movements = (coming[number] ?? []).map(movementIn(hash));
    blocks.push({ number, hash, parentHash, timestamp: blockTime, movements, forwards: [] });
  }
  return blocks;
};

export const stepOf = (
  blocks: readonly WatchedBlock[],
  rollbackTo: Block | null = null,
  finalized: number | null = null,
): BlocksStep => ({
  kind: 'blocks',
  rollbackTo,
  blocks,
  tags: { safe: null, finalized, agreed: Number.MAX_SAFE_INTEGER },
});

export const genesis = { number: -1, hash: hashOf('none', 0) };

/** A chain that has not been read, with its lease. */
export const beginAnew = async (db: Database): Promise<Lease> => {
  await db.script(`set session_replication_role = replica; delete from chain_branches; set session_replication_role = origin;
    delete from transfers; delete from forwards; delete from blocks; delete from chains`);
  const { fence } = (await takeLease(db, { caip2, holder: 'test', seconds: 600 }))!;
  return { caip2, fence };
};

/** Everything that a step can change. */
export const chainState = async ({ read }: QuietScene): Promise<unknown> => ({
  chains: await read('select caip2, latest_number::text, latest_hash, finalized_number::text from chains'),
  blocks: await read('select number::text, hash, canonical, empty from blocks b order by b.number, hash'),
  transfers: await read('select key, amount::text, canonical, settled from transfers order by key'),
  payments: await read('select id, status, amount_received::text, sequence from payments order by id'),
});
