import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { resolveNetworks } from '../../src/core/registry/networks.ts';
import type { Database } from '../../src/storage/database.ts';
import { type NetworkStatusRow, readNetworkStatus } from '../../src/storage/networkStatus.ts';
import { startHeadPollers } from '../../src/workers/headPoller.ts';
import { until } from '../api/paymentCalls.ts';
import { cloneDatabase, openTestDatabase } from '../support/databases.ts';

/** Somebody's node whose newest block is as old as a test says. */
let blockAgeSeconds = 0;
const node = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', chunk => chunks.push(chunk));
  request.on('end', () => {
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const timestamp = `0x${(Math.floor(Date.now() / 1000) - blockAgeSeconds).toString(16)}`;
    const result = method === 'eth_chainId' ? '0xaa36a7' : { number: '0x10', hash: `0x${'ab'.repeat(32)}`, timestamp };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
});

let clone: Awaited<ReturnType<typeof cloneDatabase>>;
let db: Database;
beforeAll(async () => {
  clone = await cloneDatabase();
  db = openTestDatabase(clone.url);
  await new Promise<void>(resolve => node.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  node.closeAllConnections();
  await new Promise(resolve => node.close(resolve));
  await db.close();
  await clone.drop();
});

const statusOf = async (): Promise<NetworkStatusRow | undefined> => (await readNetworkStatus(db))[0];

test('only a poll of a node that does not lag lets time pass', async () => {
  const rpcUrls = [`http://127.0.0.1:${(node.address() as AddressInfo).port}`];
  const networks = resolveNetworks({ environment: 'sandbox', configured: { ethereum: { rpcUrls } }, devChain: null });
  blockAgeSeconds = 3_600;
  const pollers = startHeadPollers({ db, networks, intervalMs: 20, log: silentLog });
  try {
    const lagging = await until(statusOf, row => row !== undefined);
    expect(lagging).toMatchObject({ network: 'ethereum', status: 'degraded', latestBlock: '16', caughtUpAt: null });
    expect(lagging!.lagSeconds).toBeGreaterThanOrEqual(3_600);
    blockAgeSeconds = 0;
    const fresh = await until(statusOf, row => row?.status === 'operational');
    expect(fresh!.caughtUpAt).toBeInstanceOf(Date);
    blockAgeSeconds = 3_600;
    const again = await until(statusOf, row => row?.status === 'degraded');
    const later = await until(statusOf, row => row!.checkedAt > again!.checkedAt);
    expect(later!.caughtUpAt, 'what was caught up once stays so, and no more').toEqual(again!.caughtUpAt);
  } finally {
    await pollers.stop();
  }
});
