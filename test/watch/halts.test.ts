import { dirname } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { pruneBlocks } from '../../src/storage/chain/blocks.ts';
import { expectError } from '../api/paymentCalls.ts';
import { type Ended, run } from '../cli/cliProcess.ts';
import { until } from '../support/until.ts';
import { type FarChain, startFarChain } from './farChain.ts';
import { localCaip2, startWatchScene, type WatchScene } from './watchScene.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 180_000 });

let scene: WatchScene;
let far: FarChain;
let usdc: string;
beforeAll(async () => {
  far = await startFarChain('arbitrum');
  await far.placeToken('USDC', 6);
  scene = await startWatchScene({ configFile: { networks: { sandbox: { arbitrum: { rpcUrls: [far.url] } } } } });
  usdc = await scene.token('base', 'USDC');
  const [account] = await scene.chain.request<[string]>('eth_accounts');
  await scene.chain.mint(usdc, account, 10n ** 15n);
});

const whole = 25_000_000n;

/** An operator's command beside the running service. */
const florin = (...args: string[]): Promise<Ended> => {
  const { dataDir, database } = scene.florin.config;
  return run(['chain', ...args, '--data-dir', dataDir], dirname(dataDir), { DATABASE_URL: database!.url });
};
const done = async (...args: string[]) => {
  const { code, stdout, stderr } = await florin(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};
const refused = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await florin(...args);
  expect([1, 2, 3], stdout).toContain(code);
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr;
};
const rowOf = async (caip2: string) => (await done('list')).data.find((row: { caip2: string }) => row.caip2 === caip2);

const halted = async (slug: string): Promise<void> => {
  await until(
    () => scene.florin.client.call('GET', `/v1/networks/${slug}`),
    ({ json }) => json.status === 'down',
  );
};

const completed = async (network: string, pay: (address: string) => Promise<unknown>) => {
  const { json: created } = await until(
    () => scene.calls.create({ network, currency: 'USDC', amount: '25' }),
    ({ status }) => status === 200,
  );
  await pay(created.address);
  return scene.reach(created.id, 'completed');
};
const payHere = (address: string) => scene.chain.payToken(usdc, address, whole);
const payFar = (address: string) => far.chain.payToken(far.token('USDC'), address, whole);

describe('a reorg below the blocks that are kept', () => {
  test('halts the chain until the operator rolls it back', { tags: ['thorough'] }, async () => {
    const kept = await completed('base', payHere);
    const before = await scene.chain.snapshot();
    const lost = await completed('base', payHere);
    await scene.chain.mine(10);
    await scene.processed();
    // Like the purger, but keeping fewer blocks.
    await pruneBlocks(scene.florin.admin.db, 3, 10_000);
    await scene.chain.revert(before);
    await scene.chain.mine(25);
    await halted('base');

    const answer = await scene.calls.create();
    expectError(answer, 503, 'network_unavailable');
    expect(answer.json.error.message).toContain('halted');
    expect(answer.json.error.message).not.toContain('..');
    expect(scene.errors.map(({ message }) => message)).toContain('a chain is halted until an operator decides');
    // Without a decision, completed payments stay completed and the other chains go on.
    expect((await scene.read(lost.id)).status).toBe('completed');
    await completed('arbitrum', payFar);

    const row = await rowOf(localCaip2);
    expect(row).toMatchObject({
      haltedAt: expect.any(String),
      haltReason: expect.stringContaining('oldest block kept'),
    });
    const text = (await florin('list')).stdout;
    expect(text).toContain('HALTED');
    const heldBlock = kept.transactions[0].blockNumber;
    expect(await refused('rollback', localCaip2, '--to', String(row.latestNumber + 1_000))).toContain('not stored');
    expect(await refused('rollback', localCaip2, '--to', 'x')).toContain('It must be a block number');
    expect(await refused('rollback', localCaip2)).toContain('--to');
    expect(await refused('rollback', 'eip155:999', '--to', '1')).toContain('eip155:999');

    const rollback = await done('rollback', localCaip2, '--to', String(heldBlock));
    expect(rollback).toEqual({ caip2: localCaip2, rollbackTo: heldBlock });
    expect(await scene.reach(lost.id, 'reversed')).toMatchObject({ exception: 'reorged', amountReceived: '0.00' });
    expect(await scene.read(kept.id)).toMatchObject({ status: 'completed', amountReceived: '25.00' });
    expect(await scene.kinds(kept.id)).toHaveLength(4);
    await completed('base', payHere);
    expect(await rowOf(localCaip2)).toMatchObject({ haltedAt: null, haltReason: null, rollbackTo: null });
  });
});

describe('a reorg against a finalized block', () => {
  test('halts the chain; with the right node back, the operator lets it go on', { tags: ['thorough'] }, async () => {
    const paid = await completed('arbitrum', payFar);
    const impostor = await startFarChain('arbitrum');
    try {
      await impostor.chain.mine((await far.chain.head()).number - (await impostor.chain.head()).number);
      await scene.processed(far);
      far.pretend(impostor);
      await halted('arbitrum');
      expect((await rowOf(far.caip2)).haltReason).toMatch(/final/);
      expect((await scene.read(paid.id)).status).toBe('completed');
      // The local chain goes on.
      await completed('base', payHere);
      far.pretend();
      expect(await done('resume', far.caip2)).toEqual({ caip2: far.caip2, resumed: true });
      await completed('arbitrum', payFar);
      expect(await scene.read(paid.id)).toMatchObject({ status: 'completed', amountReceived: '25.00' });
      expect(await scene.kinds(paid.id)).toHaveLength(4);
    } finally {
      await impostor.close();
    }
  });

  test('a chain that is not halted needs no decision', async () => {
    expect(await refused('resume', far.caip2)).toContain('not halted');
    expect(await refused('rollback', far.caip2, '--to', '1')).toContain('not halted');
    expect(await refused('resume', 'eip155:999')).toContain('eip155:999');
  });
});
