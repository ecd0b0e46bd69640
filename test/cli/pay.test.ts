import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { type Answer, send } from '../support/send.ts';
import { until } from '../support/until.ts';
import { type FarChain, startFarChain } from '../watch/farChain.ts';
import { type Ended, makeRoom, run, type Server, startServer } from './cliProcess.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let room: string;
let server: Server;
let key: string;
let far: FarChain;
beforeAll(async () => {
  room = await makeRoom();
  far = await startFarChain('arbitrum');
  const networks = { sandbox: { arbitrum: { rpcUrls: [far.url] } } };
  await writeFile(join(room, 'florin.config.json'), JSON.stringify({ networks }));
  server = await startServer(room);
  const { id } = await json('accounts', 'create', '--name', 'T', '--plan', 'enterprise', '--rate-limit', '1000000');
  const scopes = 'payments:read,payments:write';
  ({ key } = await json('keys', 'create', '--account', id, '--environment', 'sandbox', '--scopes', scopes));
});

const florin = (...args: string[]): Promise<Ended> => run(args, room);
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await florin(...args, '--json');
  expect(code, stderr).toBe(0);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout);
};
/** 1: it could not be done; 2: an argument is wrong; 3: there is no such thing. */
const refusedWith = async (expected: 1 | 2 | 3, ...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await florin(...args);
  expect(code, stderr).toBe(expected);
  expect(stdout).toBe('');
  expect(stderr).not.toContain('configuration');
  expect(stderr).not.toMatch(/\n\s+at /);
  return stderr;
};
const create = (fields: object = {}, as = key): Promise<Answer> => {
  const body = { amount: '25', currency: 'USDC', network: 'base', ...fields };
  return send(server.urls.sandbox, 'POST', '/v1/payments', { ca: server.ca, key: as, body });
};
const made = async (fields: object = {}): Promise<Answer['json']> => {
  const answer = await create(fields);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
const read = async (id: string): Promise<Answer['json']> =>
  (await send(server.urls.sandbox, 'GET', `/v1/payments/${id}`, { ca: server.ca, key })).json;

describe('florin pay', () => {
  test('a start, one request with the key of the first run, and this: the payment is completed', async () => {
    const firstKey = /sk_test_[0-9A-Za-z]+/.exec(await readFile(join(room, 'data', 'first-run'), 'utf8'))![0];
    const { status, json: payment } = await create({}, firstKey);
    expect(status).toBe(200);
    expect(await json('pay', payment.id)).toMatchObject({ id: payment.id, amount: '25.00', status: 'completed' });
  });

  const paysAll = async (network: string, currency: string, amount: string): Promise<void> => {
    const { id } = await made({ network, currency, amount });
    const paid = await json('pay', id);
    expect(paid).toEqual({
      id,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      amount,
      currency,
      status: 'completed',
      exception: null,
    });
    const payment = await read(id);
    expect(payment).toMatchObject({ status: 'completed', amountReceived: amount, amountConfirmed: amount });
    expect(payment.transactions).toMatchObject([{ hash: paid.transaction, amount, status: 'confirmed' }]);
    expect(payment.confirmations.current).toBeGreaterThanOrEqual(2);
  };
  const paid = 'pays what is asked for, and sees it completed: %s %s';
  test.each([
    ['base', 'USDC', '25.00'],
    ['polygon', 'POL', '0.10'],
  ])(paid, paysAll);
  test.each([
    ['ethereum', 'USDT', '0.000001'],
    ['bsc', 'USDT', '1.000000000000000001'],
  ])(paid, { tags: ['thorough'] }, paysAll);

  test('a part first, then what is missing, then too much, in words and in JSON', { tags: ['thorough'] }, async () => {
    const { id } = await made();
    const part = await json('pay', id, '--amount', '10.000001');
    expect(part).toMatchObject({ amount: '10.000001', status: 'pending', exception: 'underpaid' });
    const { code, stdout } = await florin('pay', id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Sent 14\.999999 USDC in 0x[0-9a-f]{64}\.\nThe payment is completed\.\n$/);
    expect(await refusedWith(1, 'pay', id)).toContain('--amount');
    expect(await json('pay', id, '--amount', '0.5')).toMatchObject({ amount: '0.50', status: 'completed' });
    const over = await until(
      () => read(id),
      payment => payment.exception === 'overpaid',
    );
    expect(over).toMatchObject({ status: 'completed', amountReceived: '25.50' });
  });

  test('an expired payment can still be paid', { tags: ['thorough'] }, async () => {
    const { id } = await made({ expiresIn: 1 });
    await until(
      () => read(id),
      ({ status }) => status === 'expired',
    );
    expect(await json('pay', id)).toMatchObject({ status: 'completed' });
  });

  test('refusals', { tags: ['thorough'] }, async () => {
    const { id } = await made();
    for (const amount of ['0', '-1', '1e3', '0.0000001', 'all', '']) {
      expect(await refusedWith(2, 'pay', id, `--amount=${amount}`)).toContain('6 decimal places');
    }
    const unknown = `${id.slice(0, -4)}0000`;
    expect(await refusedWith(3, 'pay', unknown)).toContain(unknown);
    expect(await refusedWith(2, 'pay')).toContain('payment-id');
    expect(await refusedWith(1, 'pay', id, '--data-dir', join(room, 'elsewhere'))).toContain('Florin is not running');
    expect(await read(id)).toMatchObject({ status: 'pending', amountReceived: '0.00' });
  });

  test.each(['pay_01kf0fv2e0', 'PAY_01KF0FV2E0T4W9C2XK7M5HQ8BN', 'evt_01kf0fv2e0t4w9c2xk7m5hq8bn'])(
    'what is no payment id is called that, and not a problem of the configuration: %s',
    async id =>
      expect(await refusedWith(2, 'pay', id)).toBe(
        `florin: ${id} is not a payment id. Payment ids look like pay_01kf0fv2e0t4w9c2xk7m5hq8bn.\n`,
      ),
  );

  test('an id that no sandbox payment has is called unknown, and not a problem of the configuration', async () => {
    const id = 'pay_01kf0fv2e0t4w9c2xk7m5hq8bn';
    const said = await refusedWith(3, 'pay', id);
    expect(said).toBe(`florin: There is no sandbox payment with the id ${id}.\n`);
  });

  test('a payment on another chain than the local one is left to its payer', async () => {
    const { json: payment } = await until(
      () => create({ network: 'arbitrum', currency: 'ETH', amount: '1' }),
      ({ status }) => status === 200,
    );
    expect(await refusedWith(1, 'pay', payment.id)).toContain(far.caip2);
  });
});

describe('florin chain', () => {
  test('list says how far each chain is read', { tags: ['thorough'] }, async () => {
    const { data } = await json('chain', 'list');
    expect(data).toMatchObject([
      { caip2: 'eip155:31337', haltedAt: null, haltReason: null, latestNumber: expect.any(Number) },
      { caip2: far.caip2, haltedAt: null, haltReason: null },
    ]);
    const text = (await florin('chain', 'list')).stdout;
    for (const { caip2 } of data) expect(text).toContain(caip2);
    expect(text).not.toContain('HALTED');
  });

  test('there is nothing to decide while no chain is halted', { tags: ['thorough'] }, async () => {
    expect(await refusedWith(1, 'chain', 'resume', 'eip155:31337')).toContain('not halted');
    expect(await refusedWith(1, 'chain', 'rollback', 'eip155:31337', '--to', '1')).toContain('not halted');
    expect(await refusedWith(3, 'chain', 'resume', 'eip155:1')).toContain('eip155:1');
  });
});
