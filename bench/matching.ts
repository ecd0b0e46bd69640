import { randomBytes } from 'node:crypto';
import { addressOfBytes } from '../src/chains/evm/address.ts';
import { localCaip2 } from '../src/cli/watchedChains.ts';
import type { Block, Movement } from '../src/core/chain.ts';
import { silentLog } from '../src/core/log.ts';
import { applyBlocks } from '../src/engine/chain/applyBlocks.ts';
import type { Context } from '../src/engine/context.ts';
import { type Lease, takeLease } from '../src/storage/chain/chains.ts';
import { knownAddresses } from '../src/storage/chain/transfers.ts';
import { openContext } from './benchContext.ts';
import { createMigrated, dropDatabase, serviceOf, superuserOf, withClient } from './benchDatabases.ts';
import { median, quantile, round } from './figures.ts';
import { paidAmount, paidToken, writeOpenPayments } from './openPayments.ts';
import type { Scene } from './scene.ts';

const target = 1.3;
const candidatesPerBlock = 1_000;
const paidPerBlock = 10;
const fewOpen = 1_000;
const [warmUps, repeats] = [20, 200];

/** A database with open payments, plus those that are paid during the measurement. */
type Side = {
  readonly database: string;
  readonly context: Context;
  readonly lease: Lease;
  readonly addresses: readonly string[];
  latest: Block | null;
};

const openSide = async (scene: Scene, name: string, open: number): Promise<Side> => {
  const database = `bench_matching_${name}`;
  console.log(`  writing ${open} open payments…`);
  await createMigrated(scene, database);
  const service = await serviceOf(scene, database);
  const context = await openContext({ dataDir: scene.dataDir, service, rpcUrl: null, log: silentLog });
  const payments = open + (warmUps + repeats) * paidPerBlock;
  const addresses = await writeOpenPayments(scene, context, { database, payments, withEvents: false });
  const row = await takeLease(context.db, { caip2: localCaip2, holder: 'bench', seconds: 86_400 });
  return { database, context, lease: { caip2: localCaip2, fence: row!.fence }, addresses, latest: null };
};

const closeSide = async (scene: Scene, { context, database }: Side): Promise<void> => {
  await context.db.close();
  await dropDatabase(scene, database);
};

const randomHash = (): string => `0x${randomBytes(32).toString('hex')}`;

/** Spread over all addresses, so that no index page is read twice. */
const paidIn = ({ addresses }: Side, turn: number): string[] => {
  const stride = Math.floor(addresses.length / paidPerBlock);
  return Array.from({ length: paidPerBlock }, (_, at) => addresses[at * stride + turn]!);
};

const applyBlock = async (side: Side, paid: readonly string[]): Promise<void> => {
  const { latest } = side;
  const hash = randomHash();
  const block: Block = {
    number: latest === null ? 1 : latest.number + 1,
    hash,
    parentHash: latest?.hash ?? randomHash(),
    timestamp: Math.floor(Date.now() / 1000),
  };
  const movements = paid.map(
    (to, at): Movement => ({
      key: `${hash}:log:${at}`,
      txHash: randomHash(),
      from: addressOfBytes(randomBytes(20)),
      to,
      contract: paidToken,
      amount: paidAmount,
      verified: true,
    }),
  );
  const tags = { safe: null, finalized: null, agreed: block.number };
  const blocks = [{ ...block, movements, forwards: [] }];
  await applyBlocks(side.context, side.lease, { kind: 'blocks', rollbackTo: null, blocks, tags });
  side.latest = block;
};

type Times = { readonly known: number[]; readonly block: number[] };

const timeBlock = async (side: Side, turn: number, strangers: readonly string[], times: Times): Promise<void> => {
  const paid = paidIn(side, turn);
  const begunMs = performance.now();
  const known = await knownAddresses(side.context.db, [...strangers, ...paid]);
  const knownMs = performance.now();
  await applyBlock(side, paid);
  if (known.size !== paidPerBlock) throw new Error(`${known.size} addresses are known, expected ${paidPerBlock}`);
  if (turn < warmUps) return;
  times.known.push(knownMs - begunMs);
  times.block.push(performance.now() - begunMs);
};

/** Payments of a block are completed by the next block, so all but the last block's must be. */
const checkSide = async (scene: Scene, { database }: Side): Promise<void> => {
  const { rows } = await withClient(superuserOf(scene, database), client =>
    client.query(`select count(*)::int as completed from payments where status = 'completed'`),
  );
  const expected = (warmUps + repeats - 1) * paidPerBlock;
  if (rows[0].completed !== expected) throw new Error(`${rows[0].completed} are completed, expected ${expected}`);
};

const report = (label: string, few: readonly number[], many: readonly number[]): boolean => {
  const ratio = median(many) / median(few);
  console.log(
    `  ${label}: p50 ${round(median(few))} → ${round(median(many))} ms, ratio ${round(ratio)} (target ${target}); p99 ${round(quantile(many, 0.99))} ms`,
  );
  return ratio <= target;
};

/** Finding the payments among a block's addresses must cost the same however many payments are open. */
export const benchMatching = async (scene: Scene, open: number): Promise<boolean> => {
  const few = await openSide(scene, 'few', fewOpen);
  const many = await openSide(scene, 'many', open);
  const fewTimes: Times = { known: [], block: [] };
  const manyTimes: Times = { known: [], block: [] };
  try {
    for (let turn = 0; turn < warmUps + repeats; turn++) {
      const strangers = Array.from({ length: candidatesPerBlock - paidPerBlock }, () =>
        addressOfBytes(randomBytes(20)),
      );
      await timeBlock(few, turn, strangers, fewTimes);
      await timeBlock(many, turn, strangers, manyTimes);
    }
    await checkSide(scene, few);
    await checkSide(scene, many);
  } finally {
    await closeSide(scene, few);
    await closeSide(scene, many);
  }
  console.log(
    `matching, ${candidatesPerBlock} addresses, ${paidPerBlock} of them payments', ${fewOpen} → ${open} open:`,
  );
  const isKnownFlat = report('find known addresses', fewTimes.known, manyTimes.known);
  const isBlockFlat = report('whole block', fewTimes.block, manyTimes.block);
  return isKnownFlat && isBlockFlat;
};
