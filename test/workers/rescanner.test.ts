import { beforeAll, expect, test } from 'vitest';
import { createEvmDriver } from '../../src/chains/evm/evmDriver.ts';
import { silentLog } from '../../src/core/log.ts';
import { publishReadContracts } from '../../src/engine/chain/publishContracts.ts';
import { requestRescan } from '../../src/engine/chain/requestRescan.ts';
import { keepingSeals } from '../../src/engine/seals/sealKeeper.ts';
import { pruneBlocks } from '../../src/storage/chain/blocks.ts';
import { readChains } from '../../src/storage/chain/chains.ts';
import { nextRescan, readRescan } from '../../src/storage/chain/rescans.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { createRescanner } from '../../src/workers/rescanner.ts';
import type { Written } from '../api/listingScene.ts';
import type { Upstream } from '../chains/faultProxy.ts';
import { until } from '../support/until.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';
import { startWatchedChain } from './watchedChain.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const prepare = async (options: Parameters<typeof startWatchedChain>[1] = {}) => {
  const watched = await startWatchedChain(quiet, options);
  const { context, caip2, driver, lease, host, signal } = watched;
  const turn = createRescanner(context, driver, lease);
  return {
    ...watched,
    /** Asks for a rescan and carries it out. */
    async rescan(from: number, more: { to?: number; address?: string } = {}) {
      const { to = null, address = null } = more;
      const { id } = await requestRescan(context.db, { caip2, from, to, address });
      await turn(host, signal);
      return (await readRescan(context.db, id))!;
    },
    turn: () => turn(host, signal),
  };
};
type Scene = Awaited<ReturnType<typeof prepare>>;

/** Two payments paid in one block that is read without the second one's transfer. */
const overlook = async (watched: Scene): Promise<{ seen: Written; missed: Written; paidAt: number }> => {
  const [seen, missed] = (await watched.payments(2, 'USDC')) as [Written, Written];
  await watched.chain.mine(20);
  await watched.read();
  watched.overlooked.add(missed.address);
  await watched.chain.block(watched.chain.mint(seen.address, 7n), watched.chain.mint(missed.address, 8n));
  const paidAt = await watched.chain.head();
  await watched.chain.mine(5);
  await watched.read();
  watched.overlooked.clear();
  expect(await watched.transfers(missed)).toEqual([]);
  return { seen, missed, paidAt };
};

const token = (blockNumber: number, amount: number) => ({
  blockNumber,
  amount: `${amount}`,
  verified: true,
  isCoin: false,
});

test('florin chain rescan credits what was missed and changes nothing that is right', async () => {
  const watched = await prepare();
  const { seen, missed, paidAt } = await overlook(watched);
  const before = await quiet.read(`select p.*, xmin::text from payments p where id = '${seen.id}'`);
  const done = await watched.rescan(paidAt - 2);
  expect(done).toMatchObject({ found: 1, fault: null, finishedAt: expect.any(Date) });
  expect(await watched.transfers(missed)).toEqual([token(paidAt, 8)]);
  expect(await watched.transfers(seen)).toEqual([token(paidAt, 7)]);
  expect(await quiet.read(`select p.*, xmin::text from payments p where id = '${seen.id}'`)).toEqual(before);
  expect(await watched.rescan(0), 'nothing twice').toMatchObject({ found: 0, finishedAt: expect.any(Date) });
});

test('of blocks that are no longer stored, and of one address only', async () => {
  const watched = await prepare();
  const { missed, paidAt } = await overlook(watched);
  await watched.chain.mine(260);
  await watched.read();
  await pruneBlocks(watched.context.db, 256, 5_000);
  const stored = `select number from blocks where caip2 = '${watched.caip2}' and number = ${paidAt}`;
  await quiet.scene.admin.db.script(`delete from transfers where caip2 = '${watched.caip2}';
    delete from blocks where caip2 = '${watched.caip2}' and number = ${paidAt}`);
  expect(await quiet.read(stored)).toEqual([]);
  const done = await watched.rescan(paidAt - 1, { to: paidAt + 1, address: missed.address });
  expect(done).toMatchObject({ found: 1, nextNumber: paidAt + 2 });
  expect(await watched.transfers(missed)).toEqual([token(paidAt, 8)]);
  expect(await quiet.read(stored)).toHaveLength(1);
});

test('a rescan waits for nodes that do not answer, and says so', async () => {
  const watched = await prepare();
  const { missed, paidAt } = await overlook(watched);
  watched.proxies[0]!.set({ serverError: 1 });
  const waiting = await watched.rescan(paidAt);
  expect(waiting).toMatchObject({ finishedAt: null, fault: expect.stringContaining('Too few nodes') });
  watched.proxies[0]!.set({});
  await watched.turn();
  expect(await readRescan(watched.context.db, waiting.id)).toMatchObject({ found: 1, fault: null });
  expect(await watched.transfers(missed)).toEqual([token(paidAt, 8)]);
});

test('with two nodes, one that hides transfers holds the rescan up until it is right', async () => {
  let isForgetful = true;
  const forgetful =
    (upstream: Upstream): Upstream =>
    async (method, params) => {
      const outcome = await upstream(method, params);
      if ('error' in outcome || !isForgetful) return outcome;
      if (method === 'eth_getLogs') return { result: [] };
      const isBlock = method === 'eth_getBlockByNumber' && outcome.result !== null;
      return isBlock ? { result: { ...(outcome.result as object), logsBloom: `0x${'0'.repeat(512)}` } } : outcome;
    };
  const watched = await prepare({ nodes: [upstream => upstream, forgetful] });
  const { missed, paidAt } = await overlook(watched);
  const { id, finishedAt, fault } = await watched.rescan(paidAt);
  expect([finishedAt, fault]).toEqual([null, expect.stringContaining('Too few nodes')]);
  isForgetful = false;
  await until(
    async () => {
      await watched.turn();
      return (await readRescan(watched.context.db, id))!;
    },
    rescan => rescan.finishedAt !== null,
  );
  expect(await watched.transfers(missed)).toMatchObject([{ blockNumber: paidAt, amount: '8' }]);
});

test('transfers older than the payment at an address of an extended public key are not credited', async () => {
  const watched = await prepare();
  const { missed, paidAt } = await overlook(watched);
  await quiet.tamper(
    missed.id,
    `wallet_kind = 'xpub', created_at = clock_timestamp() + interval '1 hour', expires_at = expires_at + interval '9 days'`,
  );
  expect(await watched.rescan(paidAt)).toMatchObject({ found: 0 });
});

test('when the set of contracts grows, the gap is read again', async () => {
  const watched = await prepare();
  const { context, lease, chain, caip2 } = watched;
  await publishReadContracts(context, lease, [chain.token]);
  expect(await nextRescan(context.db, caip2), 'nobody waits for the token').toBeNull();
  const fewer = createEvmDriver({
    caip2,
    chainId: chain.chainId,
    rpcUrls: watched.proxies.map(({ url }) => url),
    tokens: [],
    blockTimeSeconds: 0.25,
    isQuiet: true,
    log: silentLog,
    nowMs: () => performance.now(),
  });
  await watched.read();
  const lastRead = await chain.head();
  await publishReadContracts(context, lease, fewer.contracts);
  // The watcher without the token overlooks the transfer.
  const { missed, paidAt } = await overlook(watched);
  await publishReadContracts(context, lease, [chain.token]);
  expect(await nextRescan(context.db, caip2)).toMatchObject({ fromNumber: lastRead + 1 });
  await watched.turn();
  expect(await watched.transfers(missed)).toEqual([token(paidAt, 8)]);
});

test('a contract that was never read is read from the creation of the oldest payment that waits for it', async () => {
  const watched = await prepare();
  const { missed, paidAt } = await overlook(watched);
  await publishReadContracts(watched.context, watched.lease, [watched.chain.token]);
  expect(await nextRescan(watched.context.db, watched.caip2)).toMatchObject({ fromTime: expect.any(Date) });
  await watched.turn();
  expect(await watched.transfers(missed)).toEqual([token(paidAt, 8)]);
});

test('publication does not wait for payments: if they cannot be searched, the chain is read from its start', async () => {
  const watched = await prepare();
  const { missed, paidAt } = await overlook(watched);
  const { config } = quiet.scene;
  const hurried = openDatabase({ connectionString: config.database!.url }, { log: silentLog, queryTimeoutMs: 200 });
  hurried.keepSeals(keepingSeals(watched.context.vault, silentLog));
  await quiet.scene.admin.db.transaction(async tx => {
    await tx.query({ name: '', text: 'lock table payments in access exclusive mode' });
    await publishReadContracts({ ...watched.context, db: hurried }, watched.lease, [watched.chain.token]);
  });
  await hurried.close();
  const published = `select contract from read_contracts where caip2 = '${watched.caip2}' and read_to is null`;
  expect(await quiet.read(published)).toEqual([{ contract: watched.chain.token }]);
  const [chain] = await readChains(watched.context.db, [watched.caip2]);
  expect(await nextRescan(watched.context.db, watched.caip2)).toMatchObject({ fromNumber: chain!.startNumber });
  await watched.turn();
  expect(await watched.transfers(missed)).toEqual([token(paidAt, 8)]);
});
