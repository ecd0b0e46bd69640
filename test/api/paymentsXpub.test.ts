import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { beforeAll, expect, test } from 'vitest';
import { deriveXpubAddress } from '../../src/chains/evm/xpub.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { setWallet } from '../support/operator.ts';
import { until } from '../support/until.ts';
import { expectError, ordinary, paymentCalls } from './paymentCalls.ts';

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

const newKey = (): HDKey => HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'");

/** The same key and chain code, as another tool would export them. */
const rewrapped = (key: HDKey): string => {
  const { publicKey, chainCode } = key;
  return new HDKey({ publicKey: publicKey!, chainCode: chainCode!, depth: 1, index: 7, parentFingerprint: 9 })
    .publicExtendedKey;
};

/** An account whose payments on base use addresses of the key. */
const accountWith = async (xpub: string): Promise<TestAccount> => {
  const account = await scene.account();
  await setWallet(scene.admin, { accountId: account.id, environment: 'sandbox' }, 'base', { xpub });
  return account;
};

test('addresses are those of the key, one after the other', async () => {
  const xpub = newKey().publicExtendedKey;
  const calls = paymentCalls(scene, await accountWith(xpub));
  const made = [await calls.made(), await calls.made(), await calls.made()];
  expect(made.map(payment => payment.address)).toEqual([0, 1, 2].map(index => deriveXpubAddress(xpub, index)));
});

test('a payment knows the newest block of its creation, because anybody can send to its address before', async () => {
  const calls = paymentCalls(scene, await accountWith(newKey().publicExtendedKey));
  const ofForwarder = paymentCalls(scene, await scene.account());
  const { latestBlock } = (await scene.client.call('GET', '/v1/networks/base')).json as { latestBlock: number };
  const [known, unknown] = [await calls.made(), await ofForwarder.made()];
  const text = 'select head_number::float8 as head from payments where id = any($1) order by id';
  const rows = await scene.admin.db.query<{ head: number | null }>({ name: 'test-heads', text }, [
    [known.id, unknown.id],
  ]);
  expect(rows).toEqual([{ head: expect.any(Number) }, { head: null }]);
  expect(rows[0]!.head).toBeGreaterThanOrEqual(latestBlock);
});

test('repeated requests use up no address', async () => {
  const xpub = newKey().publicExtendedKey;
  const calls = paymentCalls(scene, await accountWith(xpub));
  const body = { ...ordinary, externalId: 'order-1' };
  const sending = { headers: { 'idempotency-key': 'order-1' } };
  const first = await calls.create(body, sending);
  for (let i = 0; i < 10; i++) {
    expect((await calls.create(body, sending)).text).toBe(first.text);
    expectError(await calls.create(body), 409, 'conflict', 'externalId');
  }
  expect((await calls.made()).address).toBe(deriveXpubAddress(xpub, 1));
});

test('the same key in another wrapping goes on where the first left off', async () => {
  const key = newKey();
  const account = await accountWith(key.publicExtendedKey);
  const calls = paymentCalls(scene, account);
  await calls.made();
  await calls.made();
  const other = rewrapped(key);
  expect(other).not.toBe(key.publicExtendedKey);
  await setWallet(scene.admin, { accountId: account.id, environment: 'sandbox' }, 'base', { xpub: other });
  const stored = { name: 'test-treasury', text: 'select treasury from payments where id = $1' };
  const treasuryOf = async (id: string) =>
    (await scene.admin.db.query<{ treasury: string }>(stored, [id]))[0]!.treasury;
  const treasury = await until(
    async () => treasuryOf((await calls.made()).id),
    found => found === other,
  );
  expect(treasury).toBe(other);
});

test('two accounts on one key never share an address', async () => {
  const key = newKey();
  const calls = [
    paymentCalls(scene, await accountWith(key.publicExtendedKey)),
    paymentCalls(scene, await accountWith(rewrapped(key))),
  ];
  const made = await Promise.all([0, 1, 0, 1, 0, 1].map(i => calls[i]!.made()));
  expect(new Set(made.map(payment => payment.address)).size).toBe(6);
});
