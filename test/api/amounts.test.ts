import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { expectInvalid, ordinary, type PaymentCalls, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
let calls: PaymentCalls;
beforeAll(async () => {
  const tiers = [
    { currency: 'USDC', from: '1000', rule: { kind: 'depth', depth: 5 } },
    { currency: 'USDC', from: '50000.5', rule: { kind: 'finalized' } },
  ];
  const minAmounts = { USDC: '5.50', AVAX: '0.01' };
  scene = await startTestFlorin({
    configFile: { networks: { sandbox: { avalanche: { rpcUrls: [], minAmounts, tiers } } } },
  });
  calls = paymentCalls(scene, await scene.account());
});

describe('amounts that are refused', () => {
  test.each([
    ['nothing', ''],
    ['zero', '0'],
    ['zero with digits', '0.000000'],
    ['a minus sign', '-1'],
    ['a plus sign', '+1'],
    ['minus zero', '-0'],
    ['an exponent', '1e3'],
    ['an upper-case exponent', '1E3'],
    ['a negative exponent', '1e-3'],
    ['a leading space', ' 1'],
    ['a trailing space', '1 '],
    ['a trailing line break', '1\n'],
    ['a comma as separator', '1,000'],
    ['a decimal comma', '1,5'],
    ['a space as separator', '1 000'],
    ['an underscore', '1_000'],
    ['no whole part', '.5'],
    ['no fraction', '5.'],
    ['a point alone', '.'],
    ['two points', '1.2.3'],
    ['leading zeros', '007'],
    ['two zeros before the point', '00.5'],
    ['hexadecimal', '0x10'],
    ['binary', '0b1'],
    ['NaN', 'NaN'],
    ['Infinity', 'Infinity'],
    ['a word', 'ten'],
    ['a currency sign', '$5'],
    ['a unit', '5 USDC'],
    ['Arabic digits', '٣'],
    ['full-width digits', '１'],
    ['a zero byte', '1\u0000'],
    ['a bigint suffix', '1n'],
    ['one digit too many for USDC', '0.0000001'],
    ['trailing zeros past the decimals', '1.0000000'],
    ['just above 10^30', '1000000000000000000000000000000.000001'],
    ['10^31', `1${'0'.repeat(31)}`],
    ['a thousand digits', '9'.repeat(1000)],
    ['sixty thousand digits', '9'.repeat(60_000)],
  ])('%s', async (_, amount) => {
    expectInvalid(await calls.create({ ...ordinary, amount }), 'amount');
  });

  test.each(['25', '25.00', '0.1', '1e2'])('the JSON number %s', async literal => {
    expectInvalid(await calls.create(`{"amount":${literal},"currency":"USDC","network":"base"}`), 'amount');
  });

  test('the message says what is wrong', async () => {
    const message = async (amount: string): Promise<string> =>
      (await calls.create({ ...ordinary, amount })).json.error.message;
    expect(await message('-5')).toContain('positive number');
    expect(await message('0')).toContain('positive number');
    expect(await message('0.0000001')).toContain('USDC has 6');
  });
});

describe('amounts that are taken, and how they come back', () => {
  test.each([
    ['USDC', 'base', '12', '12.00', '12000000'],
    ['USDC', 'base', '12.5', '12.50', '12500000'],
    ['USDC', 'base', '12.50', '12.50', '12500000'],
    ['USDC', 'base', '12.500000', '12.50', '12500000'],
    ['USDC', 'base', '0.000001', '0.000001', '1'],
    ['USDC', 'base', '0.100000', '0.10', '100000'],
    ['USDC', 'base', '0.123450', '0.12345', '123450'],
    ['USDC', 'base', '9007199254740993.000001', '9007199254740993.000001', '9007199254740993000001'],
    ['ETH', 'base', '0.000000000000000001', '0.000000000000000001', '1'],
    ['ETH', 'base', '1000', '1000.00', '1000000000000000000000'],
    ['USDC', 'bsc', '1.000000000000000001', '1.000000000000000001', '1000000000000000001'],
    ['USDC', 'base', `1${'0'.repeat(30)}`, `1${'0'.repeat(30)}.00`, `1${'0'.repeat(36)}`],
    ['ETH', 'base', `1${'0'.repeat(30)}`, `1${'0'.repeat(30)}.00`, `1${'0'.repeat(48)}`],
    ['ETH', 'base', `${'9'.repeat(30)}.${'9'.repeat(18)}`, `${'9'.repeat(30)}.${'9'.repeat(18)}`, '9'.repeat(48)],
  ])('%s on %s: %s is %s', async (currency, network, amount, canonical, baseUnits) => {
    const payment = await calls.made({ currency, network, amount });
    expect(payment.amount).toBe(canonical);
    expect(payment.paymentUri.endsWith(currency === 'ETH' ? `value=${baseUnits}` : `uint256=${baseUnits}`)).toBe(true);
    expect((await calls.read(payment.id)).json.amount).toBe(canonical);
  });

  test('decimals are those of the token on that network: USDC has 6 on base and 18 on bsc', async () => {
    const amount = '1.0000001';
    expectInvalid(await calls.create({ ...ordinary, amount }), 'amount');
    expect((await calls.made({ network: 'bsc', amount })).amount).toBe(amount);
  });

  test('ETH has 18 decimals and no more', async () => {
    expectInvalid(await calls.create({ ...ordinary, currency: 'ETH', amount: `0.${'0'.repeat(18)}1` }), 'amount');
  });
});

describe('the least amount', () => {
  test('is one base unit unless the operator raises it', async () => {
    const networks = (await scene.client.call('GET', '/v1/networks/base')).json;
    const least = networks.currencies.find((c: { symbol: string }) => c.symbol === 'USDC').minAmount;
    expect(least).toBe('0.000001');
    expect((await calls.made({ amount: least })).amount).toBe(least);
  });

  test('raised in the configuration holds for that currency on that network', async () => {
    const on = { ...ordinary, network: 'avalanche' };
    const refused = await calls.create({ ...on, amount: '5.499999' });
    expectInvalid(refused, 'amount');
    expect(refused.json.error.message).toContain('5.50 USDC');
    expect((await calls.create({ ...on, amount: '5.5' })).status).toBe(200);
    expectInvalid(await calls.create({ ...on, currency: 'AVAX', amount: '0.009999999999999999' }), 'amount');
    expect((await calls.create({ ...on, currency: 'AVAX', amount: '0.01' })).status).toBe(200);
    expect((await calls.create({ ...on, currency: 'USDT', amount: '0.000001' })).status).toBe(200);
    expect((await calls.create({ ...ordinary, amount: '0.000001' })).status).toBe(200);
  });

  test('raised is shown in the network record', async () => {
    const { currencies } = (await scene.client.call('GET', '/v1/networks/avalanche')).json;
    const least = Object.fromEntries(
      currencies.map((c: { symbol: string; minAmount: string }) => [c.symbol, c.minAmount]),
    );
    expect(least).toMatchObject({ USDC: '5.50', AVAX: '0.01', USDT: '0.000001' });
  });
});

test.each([
  ['USDC', '999.999999', 2, 'depth'],
  ['USDC', '1000', 5, 'depth'],
  ['USDC', '50000.499999', 5, 'depth'],
  ['USDC', '50000.5', null, 'finalized'],
  ['USDT', '50000.5', 2, 'depth'],
])(
  '%s %s needs %s confirmations by the rule %s, by the tiers of its currency',
  async (currency, amount, required, rule) => {
    const payment = await calls.made({ network: 'avalanche', currency, amount });
    expect(payment.confirmations).toEqual({ current: 0, required, rule });
    expect((await calls.read(payment.id)).json.confirmations).toEqual({ current: 0, required, rule });
  },
);
