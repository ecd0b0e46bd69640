import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { type FarChain, startFarChain } from './farChain.ts';
import { localCaip2, startWatchScene, type WatchScene } from './watchScene.ts';

/** `arbitrum` is backed by another chain than all the other slugs. */
let scene: WatchScene;
let far: FarChain;
let usdc: string;
beforeAll(async () => {
  far = await startFarChain('arbitrum');
  await far.placeToken('USDC', 6);
  await far.placeToken('WETH', 18);
  scene = await startWatchScene({ configFile: { networks: { sandbox: { arbitrum: { rpcUrls: [far.url] } } } } });
  usdc = await scene.token('base', 'USDC');
  await until(
    () => scene.calls.create({ network: 'arbitrum', currency: 'USDC', amount: '1' }),
    ({ status }) => status === 200,
  );
});

const whole = 25_000_000n;
const strayed = (id: string, count = 1) =>
  until(
    () => scene.read(id),
    ({ strays }) => strays.length === count,
  );

/** Nothing is credited, and the right funds still complete it. */
const expectPayable = async (created: { id: string; address: string }, strays: unknown): Promise<void> => {
  expect(await scene.read(created.id)).toEqual({ ...created, strays });
  const events = await scene.events(created.id);
  expect(events.map(({ type }) => type)).toEqual(['payment.created', 'payment.stray']);
  expect(events[1]!.body).toMatchObject({
    sequence: 2,
    data: { id: created.id, status: 'pending', amountReceived: '0.00', strays },
    previous: { status: 'pending', exception: null },
  });
  await scene.chain.payToken(usdc, created.address, whole);
  const paid = await scene.reach(created.id, 'completed');
  expect(paid).toMatchObject({ exception: null, amountReceived: '25.00', strays });
  expect(paid.transactions).toHaveLength(1);
  expect(await scene.kinds(created.id)).toEqual(['created', 'stray', 'detected', 'confirming', 'completed']);
};

describe('wrong token to a known address', () => {
  const wrong = [
    ['another token of the network', 'base', 'DAI', 1_500_000_000_000_000_000n, '1.50'],
    ["another network's token of the same symbol", 'ethereum', 'USDC', whole, '25.00'],
    ['native coin', 'base', 'ETH', 1n, '0.000000000000000001'],
  ] as const;
  test.each(wrong)('%s is recorded, shown and told, and not credited', async (_, slug, symbol, units, amount) => {
    const created = await scene.calls.made();
    const contract = await scene.token(slug, symbol);
    const { transactionHash: hash } =
      contract === null
        ? await scene.chain.payCoin(created.address, units)
        : await scene.chain.payToken(contract, created.address, units);
    await strayed(created.id);
    await expectPayable(created, [{ caip2: localCaip2, contract, hash, amount }]);
  });

  test('tokens sent to a payment in native coin are strays too', async () => {
    const created = await scene.calls.made({ currency: 'ETH', amount: '0.01' });
    const { transactionHash: hash } = await scene.chain.payToken(usdc, created.address, whole);
    const payment = await strayed(created.id);
    expect(payment).toEqual({ ...created, strays: [{ caip2: localCaip2, contract: usdc, hash, amount: '25.00' }] });
    await scene.chain.payCoin(created.address, 10n ** 16n);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ amountReceived: '0.01', exception: null });
  });

  test('each stray has its own event, and one that a reorg takes is no longer shown', async () => {
    const created = await scene.calls.made();
    await scene.chain.payCoin(created.address, 5n);
    await strayed(created.id);
    const before = await scene.chain.snapshot();
    await scene.chain.payCoin(created.address, 7n);
    await strayed(created.id, 2);
    expect(await scene.kinds(created.id)).toEqual(['created', 'stray', 'stray']);
    await scene.chain.revert(before);
    await scene.chain.mine(8);
    const [left] = (await strayed(created.id)).strays;
    expect(left.amount).toBe('0.000000000000000005');
  });
});

describe('bridged and wrapped look-alikes', () => {
  test('wrapped ether instead of ether is recorded, told and shown with its name, and not credited', async () => {
    const created = await scene.calls.made({ network: 'arbitrum', currency: 'ETH', amount: '0.01' });
    const contract = far.token('WETH');
    const { transactionHash: hash } = await far.chain.payToken(contract, created.address, 10n ** 16n);
    const payment = await strayed(created.id);
    expect(payment).toEqual({ ...created, strays: [{ caip2: far.caip2, contract, hash, amount: '0.01' }] });
    expect(await scene.kinds(created.id)).toEqual(['created', 'stray']);
    await far.chain.payCoin(created.address, 10n ** 16n);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ amountReceived: '0.01', exception: null });
  });

  test('nobody can ask to be paid in one', async () => {
    const { json } = await scene.florin.client.call('GET', '/v1/networks/arbitrum');
    expect(json.currencies.map(({ symbol }: { symbol: string }) => symbol)).toEqual(['ETH', 'USDC']);
    const answer = await scene.calls.create({ network: 'arbitrum', currency: 'WETH', amount: '1' });
    expect([answer.status, answer.json.error.param]).toEqual([400, 'currency']);
  });
});

describe('dust of a wrong token', () => {
  test('neither hides what counts nor swells the events', { tags: ['thorough'] }, async () => {
    const created = await scene.calls.made();
    const dai = await scene.token('base', 'DAI');
    const payer = await scene.chain.deploy('ContractPayer');
    await scene.chain.mint(dai, payer.address, 10n ** 21n);
    // Each has more base units than the payment, but almost no value.
    await payer.call('repeatTransfer', [dai, created.address, whole * 2n, 700n]);
    await scene.chain.payToken(usdc, created.address, whole);
    const payment = await scene.reach(created.id, 'completed');
    expect(payment).toMatchObject({ exception: null, transactions: [{ amount: '25.00' }] });
    expect(payment.confirmations.current).toBeGreaterThanOrEqual(2);
    expect(payment.strays).toHaveLength(100);
    // They are reported in parts; the right funds do not wait for them.
    const events = await until(
      () => scene.events(created.id),
      all => all.filter(({ type }) => type === 'payment.stray').length >= 700,
    );
    expect(events.filter(({ type }) => type === 'payment.stray')).toHaveLength(700);
    for (const { body } of events) expect(body.data.strays.length).toBeLessThanOrEqual(100);
  });
});

describe('wrong network', () => {
  const far25 = () => ({ caip2: far.caip2, contract: far.token('USDC'), amount: '25.00' });

  test('the right symbol on another chain is recorded with that chain, and not credited', async () => {
    const created = await scene.calls.made();
    const { transactionHash: hash } = await far.chain.payToken(far.token('USDC'), created.address, whole);
    const { strays } = await strayed(created.id);
    expect(strays).toEqual([{ ...far25(), hash }]);
    await expectPayable(created, strays);
  });

  test('native coin on another chain is recorded, and not credited', async () => {
    const created = await scene.calls.made({ currency: 'ETH', amount: '0.01' });
    const { transactionHash: hash } = await far.chain.payCoin(created.address, 10n ** 16n);
    const payment = await strayed(created.id);
    expect(payment).toEqual({ ...created, strays: [{ caip2: far.caip2, contract: null, hash, amount: '0.01' }] });
  });

  test('the other way round as well', async () => {
    const created = await scene.calls.made({ network: 'arbitrum' });
    const { transactionHash: hash } = await scene.chain.payToken(usdc, created.address, whole);
    const payment = await strayed(created.id);
    expect(payment).toEqual({ ...created, strays: [{ caip2: localCaip2, contract: usdc, hash, amount: '25.00' }] });
    await far.chain.payToken(far.token('USDC'), created.address, whole);
    expect(await scene.reach(created.id, 'completed')).toMatchObject({ amountReceived: '25.00', exception: null });
  });
});
