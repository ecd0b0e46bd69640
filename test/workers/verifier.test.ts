import { concat, type Hex, keccak256, pad, toHex } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { createCoinScanner } from '../../src/workers/coinScanner.ts';
import { createVerifier } from '../../src/workers/verifier.ts';
import type { Written } from '../api/listingScene.ts';
import { accounts } from '../chains/evmNode.ts';
import type { Upstream } from '../chains/faultProxy.ts';
import type { Sent } from '../chains/followScene.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';
import { startWatchedChain } from './watchedChain.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

type Log = { readonly logIndex: string };
type Answer = { readonly transactions?: readonly { readonly value?: string }[]; readonly logs?: readonly Log[] };

/** How a node lies while it does: about the logs of a block and about its transactions. */
type Lie = { readonly logs?: (logs: readonly Log[]) => readonly Log[]; readonly hidesCoins?: boolean };

const applyLie = (method: string, result: unknown, { logs = all => all, hidesCoins = false }: Lie): unknown => {
  if (method === 'eth_getLogs') return logs(result as readonly Log[]);
  if (method === 'eth_getTransactionReceipt') {
    const receipt = result as Answer;
    // An extra log in a receipt would reveal the lie.
    return { ...receipt, logs: receipt.logs!.filter(log => logs([log]).includes(log)) };
  }
  if (method !== 'eth_getBlockByNumber' || !hidesCoins) return result;
  const block = result as Answer;
  return { ...block, transactions: block.transactions!.filter(({ value }) => value === undefined || value === '0x0') };
};

const prepare = async () => {
  let lie: Lie = {};
  const lying =
    (upstream: Upstream): Upstream =>
    async (method, params) => {
      const outcome = await upstream(method, params);
      return 'error' in outcome || outcome.result === null
        ? outcome
        : { result: applyLie(method, outcome.result, lie) };
    };
  const watched = await startWatchedChain(quiet, { nodes: [lying] });
  const { chain, context, driver, lease, host, signal } = watched;
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  await chain.mine(20);
  await watched.read();
  const verify = createVerifier(context, driver, lease, 0);
  return {
    ...watched,
    turn: () => verify(host, signal),
    tell(told: Lie): void {
      lie = told;
    },
  };
};

const token = (blockNumber: number, amount: number, verified: boolean) => ({
  blockNumber,
  amount: `${amount}`,
  verified,
  isCoin: false,
});
const coin = (blockNumber: number, amount: number) => ({
  blockNumber,
  amount: `${amount}`,
  verified: true,
  isCoin: true,
});
const doubtful = 'transfers could not be verified';
/** Two equal transfers in a block: the bloom filter is the same with one of them. */
const withoutSecond: Lie = { logs: logs => logs.filter(({ logIndex }) => logIndex !== '0x1') };
const withOneMore: Lie = {
  logs: logs => (logs.length === 0 ? logs : [...logs, { ...logs.at(-1)!, logIndex: `0x${logs.length.toString(16)}` }]),
};

test('a transfer that was left out is written when its block is read again', async () => {
  const { chain, payments, tell, read, turn, transfers, said } = await prepare();
  const payment = (await payments(20, 'USDC')).at(-1)!;
  tell(withoutSecond);
  await chain.block(chain.transfer(payment.address, 5n), chain.transfer(payment.address, 15n));
  const paidAt = await chain.head();
  await chain.mine(3);
  await read();
  expect(await transfers(payment)).toEqual([token(paidAt, 5, false)]);
  await turn();
  expect(await transfers(payment), 'the node still lies').toEqual([token(paidAt, 5, false)]);
  tell({});
  await turn();
  expect(await transfers(payment)).toEqual([token(paidAt, 5, true), token(paidAt, 15, true)]);
  const states = `select status, amount_received::text as received from payments where id = '${payment.id}'`;
  expect(await quiet.read(states)).toEqual([{ status: 'completed', received: '20' }]);
  await turn();
  expect(await transfers(payment)).toHaveLength(2);
  expect(said(doubtful)).toHaveLength(1);
});

test('plain coin that was left out is written as well', async () => {
  const { chain, payments, tell, read, turn, transfers } = await prepare();
  const [tokens, coins] = [(await payments(20, 'USDC')).at(-1)!, (await payments(20)).at(-1)!];
  tell({ ...withoutSecond, hidesCoins: true });
  const twice = [chain.transfer(tokens.address, 5n), chain.transfer(tokens.address, 15n)];
  await chain.block(...twice, { to: coins.address, value: 7n });
  const paidAt = await chain.head();
  await read();
  expect(await transfers(coins)).toEqual([]);
  tell({});
  await turn();
  expect(await transfers(coins)).toEqual([coin(paidAt, 7)]);
});

test('plain coin that was left out and found by the balance meanwhile is not counted twice', async () => {
  const watched = await prepare();
  const { chain, payments, tell, read, turn, transfers } = watched;
  const scan = createCoinScanner(watched.context, watched.driver, watched.lease, 0);
  const [tokens, coins] = [(await payments(20, 'USDC')).at(-1)!, (await payments(20)).at(-1)!];
  tell({ ...withoutSecond, hidesCoins: true });
  const twice = [chain.transfer(tokens.address, 5n), chain.transfer(tokens.address, 15n)];
  await chain.block(...twice, { to: coins.address, value: 7n });
  const paidAt = await chain.head();
  await chain.mine(2);
  const { head, begunAt } = await read();
  await scan(head, begunAt, watched.signal);
  expect(await transfers(coins)).toEqual([coin(paidAt, 7)]);
  tell({});
  await turn();
  expect(await transfers(tokens)).toHaveLength(2);
  expect(await transfers(coins)).toEqual([coin(paidAt, 7)]);
});

test('what was forwarded and left out is written as well', async () => {
  const { chain, payments, tell, read, turn } = await prepare();
  const [tokens, coins] = [(await payments(20, 'USDC')).at(-1)!, (await payments(20)).at(-1)!];
  // A contract at the factory's address that logs the same as the factory.
  const event = keccak256(toHex('Forwarded(address,address,uint256)')).slice(2);
  const code = `0x6020602060003760006000357f${event}60206000a3`;
  await chain.node.request('hardhat_setCode', forwarderFactory, code);
  const forwarded = (amount: bigint): Sent => ({
    to: forwarderFactory,
    data: concat([pad(coins.address as Hex), toHex(amount, { size: 32 })]),
  });
  tell({ logs: logs => logs.filter(({ logIndex }) => Number(logIndex) < 2) });
  const [early, late] = [5n, 15n].map(amount => chain.transfer(tokens.address, amount)) as [Sent, Sent];
  await chain.block(early, forwarded(3n), late, forwarded(4n));
  await read();
  const amounts = `select amount::text from forwards where payment_id = '${coins.id}' order by amount`;
  expect(await quiet.read(amounts)).toEqual([{ amount: '3' }]);
  tell({});
  await turn();
  expect(await quiet.read(amounts)).toEqual([{ amount: '3' }, { amount: '4' }]);
});

test('a transfer that its block does not hold is never verified, and told once', async () => {
  const { chain, payments, tell, read, turn, transfers, said, caip2 } = await prepare();
  const payment = (await payments(20, 'USDC')).at(-1)!;
  tell(withOneMore);
  await chain.block(chain.transfer(payment.address, 5n));
  const paidAt = await chain.head();
  await chain.mine(3);
  await read();
  expect(await transfers(payment)).toEqual([token(paidAt, 5, false), token(paidAt, 5, false)]);
  tell({});
  for (let turns = 0; turns < 3; turns++) await turn();
  expect(await transfers(payment)).toEqual([token(paidAt, 5, true), token(paidAt, 5, false)]);
  expect(said(doubtful).map(({ fields }) => fields)).toEqual([{ caip2, block: paidAt, left: 1, absent: 1 }]);
});

test('blocks that can never be verified do not crowd out newer ones', async () => {
  const { chain, payments, tell, read, turn, transfers, said } = await prepare();
  const [bad, older, newer] = (await payments(1_000, 'USDC')).slice(-3);
  const payTwice = async ({ address }: Written): Promise<number> => {
    tell(withoutSecond);
    await chain.block(chain.transfer(address, 5n), chain.transfer(address, 15n));
    await read();
    return chain.head();
  };
  const first = await payTwice(older!);
  tell(withOneMore);
  for (let blocks = 0; blocks < 25; blocks++) await chain.block(chain.transfer(bad!.address, 5n));
  await read();
  const last = await payTwice(newer!);
  const whole = (at: number) => [token(at, 5, true), token(at, 15, true)];
  await turn();
  tell({});
  expect(await transfers(newer!), 'its turn is the next').toEqual([token(last, 5, false)]);
  await turn();
  expect(await transfers(newer!)).toEqual(whole(last));
  expect(await transfers(older!), 'its turn was the first').toEqual([token(first, 5, false)]);
  await turn();
  expect(await transfers(older!)).toEqual(whole(first));
  for (let turns = 0; turns < 4; turns++) await turn();
  const told = said(doubtful).map(({ fields }) => fields.block);
  expect(told).toEqual(Array.from({ length: 26 }, (_, at) => first + at));
});

test('as long as whole turns help, they follow at once', async () => {
  const { chain, payments, tell, read, transfers, context, driver, lease, host, signal } = await prepare();
  const intervalMs = 3_600_000;
  let nowMs = 0;
  const verify = createVerifier(context, driver, lease, intervalMs, { now: () => nowMs });
  const payment = (await payments(1_000, 'USDC')).at(-1)!;
  tell(withoutSecond);
  for (let blocks = 0; blocks < 30; blocks++) {
    await chain.block(chain.transfer(payment.address, 5n), chain.transfer(payment.address, 15n));
  }
  await read();
  tell({});
  const whole = async () => (await transfers(payment)).filter(({ verified }) => verified).length;
  await verify(host, signal);
  expect(await whole(), 'its time has not come').toBe(0);
  nowMs += intervalMs;
  await verify(host, signal);
  expect(await whole()).toBe(40);
  await verify(host, signal);
  expect(await whole()).toBe(60);
});
