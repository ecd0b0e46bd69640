import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/cli/config.ts';
import { type Florin, startFlorin } from '../../src/cli/florin.ts';
import { silentLog } from '../../src/core/log.ts';
import { expectError, type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { createClient } from '../support/client.ts';
import { dumpDatabase } from '../support/dumpDatabase.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import type { ChainCalls } from './chainCalls.ts';
import { localCaip2, localChain } from './watchScene.ts';

vi.setConfig({ testTimeout: 120_000 });

const masterKey = { FLORIN_MASTER_KEY: randomBytes(32).toString('hex') };
const whole = 25_000_000n;

/** Another Florin on the same database with its own data directory, and so possibly its own chain. */
type Second = {
  readonly florin: Florin;
  readonly calls: PaymentCalls;
  networks(): Promise<Answer['json'][]>;
  simulate(id: string): Promise<Answer>;
  stop(): Promise<void>;
};

let first: TestFlorin;
let chain: ChainCalls;
let account: TestAccount;
let usdc: string;
beforeAll(async () => {
  first = await startTestFlorin({ env: masterKey });
  chain = await localChain(first.config.dataDir);
  account = await first.account();
  const { json } = await first.client.call('GET', '/v1/networks/base');
  usdc = json.currencies.find((currency: { symbol: string }) => currency.symbol === 'USDC').contractAddress;
});

const startSecond = async (roles: string): Promise<Second> => {
  const second = await startSecondFlorin(first.config.database!.url, { ...masterKey, FLORIN_ROLES: roles });
  const client = await createClient(second.florin);
  return {
    florin: second.florin,
    calls: paymentCalls({ ...first, client }, account),
    networks: async () => (await client.call('GET', '/v1/networks')).json.data,
    simulate: id =>
      client.call('POST', `/v1/sandbox/payments/${id}/simulate`, {
        key: account.keys.sandbox,
        body: { outcome: 'paid' },
      }),
    async stop() {
      await client.close();
      await second.stop();
    },
  };
};

/** Which process has the sandbox's chain, and which reads it. */
const claims = async (): Promise<unknown> => {
  const holders = { name: 'test-holders', text: 'select caip2, fence::text, lease_holder from chains' };
  // Each process says where its dashboard is: the latest is right for a new link.
  const deployment = (await dumpDatabase(first.admin.db, 'deployment'))
    .split('\n')
    .filter(row => !/dashboard_url/.test(row));
  return { deployment: deployment.sort(), holders: await first.admin.db.query(holders) };
};
const canonical = async (): Promise<{ number: number; hash: string }[]> =>
  first.admin.db.query(
    {
      name: 'test-canonical',
      text: 'select number::float8 as number, hash from blocks where caip2 = $1 and canonical order by number',
    },
    [localCaip2],
  );
const hashAt = async (number: number): Promise<string> =>
  (await chain.request<{ hash: string }>('eth_getBlockByNumber', `0x${number.toString(16)}`, false)).hash;

describe.each(['all', 'watch,api', 'api'])('a second Florin on the database of another, as %s', roles => {
  let second: Second;
  let before: unknown;
  beforeAll(async () => {
    before = await claims();
    second = await startSecond(roles);
  });

  test('leaves its own local chain alone and says what to do about it', async () => {
    expect(second.florin.devChainPid()).toBe(null);
    const notices = second.florin.notices.join('\n');
    if (roles === 'api') expect(notices).toBe('');
    else
      expect(notices).toMatch(
        /local chain of another data directory[\s\S]*DATABASE_URL[\s\S]*rpcUrls[\s\S]*FLORIN_ROLES/,
      );
    expect(await claims()).toEqual(before);
  });

  test('serves the sandbox on the chain that is watched', async () => {
    const networks = await until(second.networks, list => list.every(({ status }) => status === 'operational'));
    for (const network of networks) expect(network.caip2).toBe(localCaip2);
    const payment = await second.calls.made();
    await chain.payToken(usdc, payment.address, whole);
    const paid = await until(
      () => second.calls.read(payment.id),
      ({ json }) => json.status === 'completed',
    );
    expect(paid.json).toMatchObject({ amountReceived: '25.00', exception: null });
    for (const { number, hash } of await canonical()) expect(await hashAt(number)).toBe(hash);
    // A payment on an unwatched chain would not be seen.
    expectError(await second.simulate(payment.id), 404, 'not_found');
  });
});

test('whichever comes first has the sandbox, also when it stops and comes back', { tags: ['thorough'] }, async () => {
  const rooms = [await mkdtemp(join(tmpdir(), 'florin-test-')), await mkdtemp(join(tmpdir(), 'florin-test-'))] as const;
  const other = await startTestFlorin({ env: { ...masterKey, FLORIN_ROLES: 'api' } });
  const start = async (room: string): Promise<Florin> => {
    const env = { ...masterKey, DATABASE_URL: other.config.database!.url, FLORIN_ROLES: 'watch' };
    return startFlorin(await loadConfig({ env, cwd: room }), silentLog);
  };
  try {
    const own = await start(rooms[0]);
    expect(own.devChainPid()).not.toBe(null);
    await own.stop();
    const late = await start(rooms[1]);
    expect(late.devChainPid()).toBe(null);
    expect(late.notices).toHaveLength(1);
    const again = await start(rooms[0]);
    expect(again.devChainPid()).not.toBe(null);
    expect(again.notices).toEqual([]);
    await Promise.all([late.stop(), again.stop()]);
  } finally {
    await other.stop();
    for (const room of rooms) await rm(room, { recursive: true, force: true });
  }
});
