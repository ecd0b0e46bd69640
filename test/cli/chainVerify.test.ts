// @module-tag thorough
import { beforeAll, expect, test, vi } from 'vitest';
import { verifyByDecision } from '../../src/engine/chain/verifyByDecision.ts';
import { insertForwards } from '../../src/storage/settlement/forwards.ts';
import { settleForwards } from '../../src/storage/settlement/holdings.ts';
import { auditRows } from '../dashboard/auditRows.ts';
import { until } from '../support/until.ts';
import type { Contract } from '../watch/chainCalls.ts';
import { type FarChain, startFarChain } from '../watch/farChain.ts';
import { startWatchScene, type WatchScene } from '../watch/watchScene.ts';
import { run } from './cliProcess.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

/** A listed token whose logs are right and whose balances never prove it. */
let scene: WatchScene;
let avalanche: FarChain;
let odd: Contract;
const ordinary = { network: 'avalanche', currency: 'USDC', amount: '25' };
const whole = 25_000_000n;
beforeAll(async () => {
  avalanche = await startFarChain('avalanche');
  await avalanche.placeCode('USDC', 'OddToken');
  odd = avalanche.chain.at('OddToken', avalanche.token('USDC'));
  const sandbox = { avalanche: { rpcUrls: [avalanche.url] } };
  scene = await startWatchScene({ configFile: { networks: { sandbox } } });
  await until(
    () => scene.calls.create(ordinary),
    ({ status }) => status === 200,
  );
});

const command = async (...args: string[]) => {
  const { dataDir, database } = scene.florin.config;
  const { code, stdout, stderr } = await run([...args, '--json', '--data-dir', dataDir], dataDir, {
    DATABASE_URL: database!.url,
  });
  return { code, stderr, json: code === 0 ? JSON.parse(stdout) : null };
};
const paidUnverifiably = async (sum: bigint = whole) => {
  const payment = await scene.calls.made(ordinary);
  await odd.call('pretend', [payment.address, sum]);
  await avalanche.chain.mine(5);
  await scene.processed(avalanche);
  return payment;
};
const keysOf = async (id: string): Promise<string[]> => {
  const { json } = await command('chain', 'unverified');
  return json.data
    .filter(({ paymentId }: { paymentId: string }) => paymentId === id)
    .map(({ key }: { key: string }) => key);
};
const reason = 'Two explorers show it in a final block.';

test('a transfer that can never be verified completes its payment by an audited decision', async () => {
  const payment = await paidUnverifiably();
  expect(await scene.read(payment.id)).toMatchObject({ status: 'confirming', amountConfirmed: '0.00' });
  const [key] = await keysOf(payment.id);
  const verified = await command('chain', 'verify', avalanche.caip2, key!, '--reason', reason, '--by', 'Ada');
  expect(verified.json, verified.stderr).toMatchObject({ paymentId: payment.id, amount: '25.00', verified: true });
  expect(await scene.reach(payment.id, 'completed')).toMatchObject({ exception: null, amountConfirmed: '25.00' });
  expect(await keysOf(payment.id)).toEqual([]);
  const row = (await auditRows(scene.florin, scene.account.id)).at(-1)!;
  expect(row).toMatchObject({
    action: 'payment.transfer_verified',
    subject: payment.id,
    environment: 'sandbox',
    actor: 'Command line',
    detail: { caip2: avalanche.caip2, key, amount: '25.00 USDC', by: 'Ada', reason },
  });
  const { db } = scene.florin.admin;
  const text = 'select decided_by, reason from transfer_decisions where key = $1';
  expect(await db.query({ name: 'test-decisions', text }, [key])).toEqual([{ decided_by: 'Ada', reason }]);
  for (const change of [`update transfer_decisions set reason = 'x'`, 'delete from transfer_decisions']) {
    await expect(db.script(change)).rejects.toThrow(/not allowed/);
  }
});

test('what must not be decided is refused, and nothing is recorded', async () => {
  const { admin } = scene.florin;
  const before = (await auditRows(scene.florin, scene.account.id)).length;
  const decide = (key: string, more: object = {}) =>
    verifyByDecision(admin, { caip2: avalanche.caip2, key }, { by: 'Ada', reason, ...more });
  const [absurd] = await keysOf((await paidUnverifiably(2n ** 256n - 1n)).id);
  await expect(decide(absurd!)).rejects.toThrow(/more than any amount/);
  await expect(decide('0x00:log:1')).rejects.toThrow(/no transfer/);
  const [key] = await keysOf((await paidUnverifiably()).id);
  await expect(decide(key!, { reason: ' ' })).rejects.toThrow(/reason/);
  await expect(decide(key!, { by: '' })).rejects.toThrow(/name/);
  const coin = await scene.calls.made({ network: 'avalanche', currency: 'AVAX', amount: '1' });
  await odd.call('pretend', [coin.address, whole]);
  await scene.processed(avalanche);
  const text = 'select key from transfers where payment_id = $1';
  const [stray] = await admin.db.query<{ key: string }>({ name: 'test-stray', text }, [coin.id]);
  await expect(decide(stray!.key)).rejects.toThrow(/never counts/);
  expect(await auditRows(scene.florin, scene.account.id)).toHaveLength(before);
  await decide(key!);
  await expect(decide(key!)).rejects.toThrow(/verified already/);
});

test('funds that were swept before they were verified are not planned for a sweep again', async () => {
  const { db } = scene.florin.admin;
  const { caip2 } = avalanche;
  const payment = await paidUnverifiably();
  const [key] = await keysOf(payment.id);
  const [blockHash] = key!.split(':') as [string];
  const blockText = 'select number::int from blocks where caip2 = $1 and hash = $2';
  const [block] = await db.query<{ number: number }>({ name: 'test-block', text: blockText }, [caip2, blockHash]);
  await db.transaction(async tx => {
    const swept = { key: `${key}:swept`, from: payment.address, contract: odd.address, amount: whole, verified: true };
    const forwards = [{ ...swept, txHash: blockHash }];
    await insertForwards(tx, scene.florin.admin.vault, caip2, [{ hash: blockHash, number: block!.number, forwards }]);
    await settleForwards(tx, caip2, { at: [block!.number] }, []);
  });
  const text = `select p.amount_forwarded::text as forwarded, coalesce(f.amount, 0)::text as found
    from payments p left join found_funds f on f.payment_id = p.id where p.id = $1`;
  const moved = () => db.query({ name: 'test-moved', text }, [payment.id]);
  expect(await moved()).toEqual([{ forwarded: '0', found: `${whole}` }]);
  await verifyByDecision(scene.florin.admin, { caip2, key: key! }, { by: 'Ada', reason });
  expect(await moved()).toEqual([{ forwarded: `${whole}`, found: '0' }]);
});
