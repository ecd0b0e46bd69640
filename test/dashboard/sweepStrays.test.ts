// @module-tag thorough
import { beforeAll, expect, test, vi } from 'vitest';
import type { SweepPlan, UnsweptRow } from '../../src/core/api/moneyApi.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import type { ChainCalls } from '../watch/chainCalls.ts';
import { type FarChain, startFarChain } from '../watch/farChain.ts';
import { expectRefused, type MoneyScene, startMoneyScene } from './moneyScene.ts';

vi.setConfig({ testTimeout: 120_000 });

const treasury = '0x00000000000000000000000000000000DeaDBeef';
const otherTreasury = '0x00000000000000000000000000000000000A11cE';

/** `arbitrum` is on a chain of its own; the other networks are on the local chain. */
let far: FarChain;
let scene: MoneyScene;
let tokens: Record<'usdc' | 'dai', string>;
beforeAll(async () => {
  far = await startFarChain('arbitrum');
  await far.placeToken('USDC', 6);
  await far.placeToken('WETH', 18);
  scene = await startMoneyScene({ configFile: { networks: { sandbox: { arbitrum: { rpcUrls: [far.url] } } } } });
  await setTreasury('base', treasury);
  await setTreasury('arbitrum', treasury);
  const { json } = await scene.dashboard.scene.client.call('GET', '/v1/networks/base');
  const contractOf = (symbol: string): string =>
    json.currencies.find((each: { symbol: string }) => each.symbol === symbol).contractAddress;
  tokens = { usdc: contractOf('USDC'), dai: contractOf('DAI') };
  await until(
    () => scene.calls.create({ network: 'arbitrum', currency: 'USDC', amount: '1' }),
    ({ status }) => status === 200,
  );
});

const setTreasury = (network: 'base' | 'arbitrum' | 'ethereum', destination: string) => {
  const scope = { accountId: scene.account.id, environment: 'sandbox' } as const;
  return setWallet(scene.dashboard.scene.admin, scope, network, { treasury: destination });
};
type Made = { readonly id: string; readonly address: string; readonly currency: string; readonly network: string };
const make = async (fields: Parameters<MoneyScene['make']>[0] = {}): Promise<Made> =>
  (await scene.make(fields)) as unknown as Made;
const unswept = async (): Promise<UnsweptRow[]> => (await scene.owner.do('GET /settlement')).unswept;
const rowOf = (rows: readonly UnsweptRow[], network: string, currency: string) =>
  rows.find(row => row.network === network && row.currency === currency);
const held = (network: string, currency: string, amount: string) =>
  until(unswept, rows => rowOf(rows, network, currency)?.amount === amount);
/** Blocks of the other chain come only when they are asked for. */
const reach = (id: string, status: string) =>
  until(
    async () => {
      await far.chain.mine();
      return (await scene.owner.do('GET /payments/:id', { params: { id } })).payment;
    },
    payment => payment.status === status,
  );
const plan = (network: string, currency: string, to = treasury): Promise<SweepPlan> =>
  scene.owner.do('POST /settlement/plan', { body: { network, currency, treasury: to } });

/** Sends a plan with a wallet, records it, and waits until all of it has landed. */
const sweep = async (network: string, currency: string, chain: ChainCalls): Promise<SweepPlan> => {
  const planned = await plan(network, currency);
  for (const { to, data, payments } of planned.transactions) {
    const { transactionHash: txHash } = await chain.send({ to, data });
    await scene.owner.do('POST /settlement/sweeps', { body: { network, currency, txHash, payments } });
  }
  await until(
    () => scene.owner.do('GET /settlement'),
    ({ sweeps }) => sweeps.slice(0, planned.transactions.length).every(({ status }) => status === 'landed'),
  );
  return planned;
};

test('a stray on its own chain is swept with the money of the same token', async () => {
  const strayed = await make();
  await scene.chain.payToken(tokens.dai, strayed.address, 3n * 10n ** 18n);
  const [alone] = await held('base', 'DAI', '3.00');
  expect(alone).toMatchObject({ payments: 1, strays: 1, refusal: null, treasury });
  expect(Number(alone!.gas!.units)).toBeGreaterThan(50_000);
  const ordinary = await scene.paid({ amount: '2', currency: 'DAI' });
  expect(await held('base', 'DAI', '5.00')).toMatchObject([{ payments: 2, strays: 1 }]);
  const planned = await sweep('base', 'DAI', scene.chain);
  expect(planned).toMatchObject({ amount: '5.00', remaining: 0, failing: [] });
  expect(planned.transactions.map(({ payments }) => payments)).toEqual([[strayed.id, ordinary.id]]);
  expect(await scene.chain.tokenBalance(tokens.dai, treasury)).toBe(5n * 10n ** 18n);
  expect(await unswept()).toEqual([]);
  // The payment itself stays as it was.
  expect((await scene.calls.read(strayed.id)).json).toMatchObject({ status: 'pending', amountReceived: '0.00' });
});

test('a stray on another network is swept only where its treasury is the payout address too', async () => {
  const strayed = await make();
  await setTreasury('arbitrum', otherTreasury);
  await far.chain.payToken(far.token('USDC'), strayed.address, 4_000_000n);
  const [refused] = await held('arbitrum', 'USDC', '4.00');
  expect(refused).toMatchObject({ strays: 1, treasury, gas: null });
  expect(refused!.refusal).toContain('not your payout address on Arbitrum One');
  const asked = { body: { network: 'arbitrum', currency: 'USDC', treasury } };
  await expectRefused(scene.owner.call('POST /settlement/plan', asked), 409, 'conflict');

  await setTreasury('arbitrum', treasury);
  expect((await held('arbitrum', 'USDC', '4.00'))[0]!.refusal).toBeNull();
  await sweep('arbitrum', 'USDC', far.chain);
  expect(await far.chain.tokenBalance(far.token('USDC'), treasury)).toBe(4_000_000n);
  expect(await unswept()).toEqual([]);
});

test('a look-alike is named, and swept under its own name', async () => {
  const strayed = await make({ network: 'arbitrum' });
  await far.chain.payToken(far.token('WETH'), strayed.address, 7n * 10n ** 17n);
  await until(
    async () => {
      await far.chain.mine();
      return rowOf(await unswept(), 'arbitrum', 'WETH');
    },
    row => row?.amount === '0.70',
  );
  const planned = await sweep('arbitrum', 'WETH', far.chain);
  expect(planned).toMatchObject({ amount: '0.70', currency: 'WETH', failing: [] });
  expect(planned.transactions.map(({ payments }) => payments)).toEqual([[strayed.id]]);
  expect(await far.chain.tokenBalance(far.token('WETH'), treasury)).toBe(7n * 10n ** 17n);
  expect((await scene.owner.do('GET /settlement')).sweeps[0]).toMatchObject({ currency: 'WETH', amount: '0.70' });
  expect(await unswept()).toEqual([]);
  const body = { network: 'arbitrum', currency: 'WBNB', treasury };
  await expectRefused(scene.owner.call('POST /settlement/plan', { body }), 400, 'invalid_request', 'currency');
});

test('payments that never received a token are in no sweep of it', async () => {
  const strayed = await make();
  await scene.chain.payToken(tokens.dai, strayed.address, 10n ** 18n);
  await held('base', 'DAI', '1.00');
  const other = await make();
  const body = { network: 'base', currency: 'DAI', txHash: `0x${'ab'.repeat(32)}`, payments: [strayed.id, other.id] };
  await expectRefused(scene.owner.call('POST /settlement/sweeps', { body }), 400, 'invalid_request', 'payments');
  await sweep('base', 'DAI', scene.chain);
});

test('100 payments with tokens, coin and strays mixed on two networks are swept', async () => {
  const before = {
    usdc: await scene.chain.tokenBalance(tokens.usdc, treasury),
    dai: await scene.chain.tokenBalance(tokens.dai, treasury),
    coin: await scene.chain.coinBalance(treasury),
    far: await far.chain.tokenBalance(far.token('USDC'), treasury),
    farCoin: await far.chain.coinBalance(treasury),
  };
  const made: Made[] = [];
  for (let n = 0; n < 100; n++) {
    const network = n % 2 === 0 ? 'base' : 'arbitrum';
    made.push(await make({ amount: '1', currency: n % 4 < 2 ? 'USDC' : 'ETH', network }));
  }
  for (const [n, { address, currency, network }] of made.entries()) {
    const [chain, usdc] = network === 'base' ? [scene.chain, tokens.usdc] : [far.chain, far.token('USDC')];
    if (currency === 'USDC') await chain.payToken(usdc, address, 1_000_000n);
    else await chain.payCoin(address, 10n ** 18n);
    // One in five also gets what it did not ask for.
    if (n % 10 === 0) await scene.chain.payToken(tokens.dai, address, 10n ** 18n);
    if (n % 10 === 5) await far.chain.payToken(far.token('USDC'), made[n - 1]!.address, 1_000_000n);
  }
  for (const { id } of made) await reach(id, 'completed');
  await held('arbitrum', 'USDC', '35.00');
  await sweep('base', 'USDC', scene.chain);
  await sweep('base', 'ETH', scene.chain);
  await sweep('base', 'DAI', scene.chain);
  await sweep('arbitrum', 'USDC', far.chain);
  await sweep('arbitrum', 'ETH', far.chain);
  expect(await unswept()).toEqual([]);
  expect((await scene.chain.tokenBalance(tokens.usdc, treasury)) - before.usdc).toBe(25_000_000n);
  expect((await scene.chain.tokenBalance(tokens.dai, treasury)) - before.dai).toBe(10n * 10n ** 18n);
  expect((await scene.chain.coinBalance(treasury)) - before.coin).toBe(25n * 10n ** 18n);
  expect((await far.chain.tokenBalance(far.token('USDC'), treasury)) - before.far).toBe(35_000_000n);
  expect((await far.chain.coinBalance(treasury)) - before.farCoin).toBe(25n * 10n ** 18n);
});

test('an item that keeps failing goes to the end of the plan and is named', async () => {
  const payments: Made[] = [];
  for (let n = 0; n < 3; n++) {
    const payment = await make({ amount: '2', network: 'arbitrum' });
    await far.chain.payToken(far.token('USDC'), payment.address, 2_000_000n);
    await reach(payment.id, 'completed');
    payments.push(payment);
  }
  const [blocked, ...others] = payments.map(({ id }) => id);
  expect((await plan('arbitrum', 'USDC')).failing).toEqual([]);
  // The token turns against one address.
  const { address } = await far.chain.deploy('PickyToken', [payments[0]!.address]);
  await far.node.request('hardhat_setCode', far.token('USDC'), await far.node.code(address));
  for (const payment of payments) await far.chain.mint(far.token('USDC'), payment.address, 2_000_000n);
  const planned = await plan('arbitrum', 'USDC');
  expect(planned.failing).toEqual([blocked]);
  expect(planned.transactions.flatMap(transaction => transaction.payments)).toEqual([...others, blocked]);
});

test('money goes to a treasury that is a contract only where it is the same contract and somebody confirmed it', async () => {
  const safe = (await scene.chain.deploy('PlainSender')).address;
  await setTreasury('base', safe);
  await setTreasury('ethereum', safe);
  // Wallets are cached for half a second.
  const payment = await until(
    async () => {
      const made = await make({ amount: '6', network: 'ethereum' });
      const [row] = await scene.sql<{ treasury: string }>(`select treasury from payments where id = '${made.id}'`);
      return { ...made, treasury: row!.treasury };
    },
    made => made.treasury === safe,
  );
  await scene.simulate(payment.id, 'paid', 'completed');
  const shown = async () => rowOf(await unswept(), 'ethereum', 'USDC');
  const asked = { body: { network: 'ethereum', currency: 'USDC', treasury: safe } };

  // The contract is on the local chain only.
  await setTreasury('arbitrum', safe);
  const strayed = await make({ amount: '6', network: 'ethereum' });
  await far.chain.payCoin(strayed.address, 10n ** 18n);
  const foreign = await until(
    async () => (await unswept()).find(row => row.network === 'arbitrum' && row.treasury === safe),
    row => row !== undefined,
  );
  expect(foreign!.refusal).toContain('and not on Arbitrum One');
  const onArbitrum = { body: { network: 'arbitrum', currency: 'ETH', treasury: safe } };
  await expectRefused(scene.owner.call('POST /settlement/plan', onArbitrum), 409, 'conflict');

  expect((await shown())!.refusal).toBe(
    'The treasury is a contract. An owner or admin must confirm that it is yours on Ethereum.',
  );
  await expectRefused(scene.owner.call('POST /settlement/plan', asked), 409, 'conflict');
  await scene.owner.prove();
  await scene.owner.do('POST /settlement/confirm', { body: { network: 'ethereum', treasury: safe } });
  expect((await shown())!.refusal).toBeNull();
  expect((await scene.owner.do('POST /settlement/plan', asked)).transactions).toHaveLength(1);
});
