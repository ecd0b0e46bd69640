// @module-tag thorough
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test, vi } from 'vitest';
import { expectError, type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { launch, makeRoom } from '../cli/cliProcess.ts';
import { createClient } from '../support/client.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { until } from '../support/until.ts';
import { type FarChain, startFarChain } from './farChain.ts';

vi.setConfig({ testTimeout: 120_000 });

const masterKey = { FLORIN_MASTER_KEY: randomBytes(32).toString('hex') };
let far: FarChain;
let points: string;
let watching: TestFlorin;
let account: TestAccount;
let url: string;
beforeAll(async () => {
  far = await startFarChain('arbitrum');
  await far.placeToken('USDC', 6);
  points = (await far.chain.deploy('TestToken', ['Loyalty', 'PTS', 2])).address;
  const configFile = { networks: { sandbox: { arbitrum: { rpcUrls: [far.url] } } } };
  watching = await startTestFlorin({ env: masterKey, configFile });
  account = await watching.account();
  url = watching.config.database!.url;
  await until(
    () => watching.client.call('GET', '/v1/networks/arbitrum'),
    ({ json }) => json.status === 'operational',
  );
});

/** Another Florin that lists one more token, with these roles. */
const startListing = async (roles: string): Promise<{ calls: PaymentCalls; stop(): Promise<void> }> => {
  const tokens = [{ symbol: 'PTS', name: 'Loyalty points', decimals: 2, contractAddress: points }];
  const configFile = { networks: { sandbox: { arbitrum: { rpcUrls: [far.url], tokens } } } };
  const second = await startSecondFlorin(url, { ...masterKey, FLORIN_ROLES: roles }, configFile);
  const client = await createClient(second.florin);
  return {
    calls: paymentCalls({ ...watching, client }, account),
    async stop() {
      await client.close();
      await second.stop();
    },
  };
};

test('API lists a token that the watcher does not read: no address is handed out', async () => {
  const listing = await startListing('api');
  const answer = await listing.calls.create({ network: 'arbitrum', currency: 'PTS', amount: '5' });
  expectError(answer, 503, 'network_unavailable');
  expect(answer.json.error.message).toContain('does not read this token');
  expect((await listing.calls.create({ network: 'arbitrum', currency: 'USDC', amount: '5' })).status).toBe(200);
  await listing.stop();
});

test('florin chain rescan reads beside the running watcher and reports', async () => {
  const room = await makeRoom();
  const env = { ...masterKey, DATABASE_URL: url };
  const first = (await far.chain.request<{ number: string }>('eth_getBlockByNumber', 'earliest', false)).number;
  const args = ['chain', 'rescan', far.caip2, '--from', `${Number(first)}`, '--json'];
  const done = await launch(args, room, env).ended;
  expect(done.stderr).toBe('');
  expect(JSON.parse(done.stdout)).toMatchObject({ caip2: far.caip2, from: 0, address: null, found: 0 });
  const listed = await launch(['ledger', 'differences', '--json'], room, env).ended;
  expect(JSON.parse(listed.stdout)).toEqual({ data: [] });
  const beyond = await launch(['chain', 'rescan', far.caip2, '--from', '999999999'], room, env).ended;
  expect(beyond.code).not.toBe(0);
});
