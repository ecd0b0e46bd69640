import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { setWallet } from '../support/operator.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { expectError, expectInvalid, ordinary, type PaymentCalls, paymentCalls } from './paymentCalls.ts';
import { startRpcNode } from './rpcNode.ts';

let scene: TestFlorin;
let node: Awaited<ReturnType<typeof startRpcNode>>;
let account: TestAccount;
let calls: PaymentCalls;
beforeAll(async () => {
  node = await startRpcNode(1);
  scene = await startTestFlorin({ configFile: { networks: { production: { ethereum: { rpcUrls: [node.url] } } } } });
  account = await scene.account();
  calls = paymentCalls(scene, account);
});

let counter = 0;
const newKey = (): string => `key-${++counter}`;
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });
const total = async (): Promise<number> => (await calls.list('limit=1')).json.pagination.total;

const expectReplay = (answer: Answer, first: Answer): void => {
  expect(answer.status, answer.text).toBe(first.status);
  expect(answer.text).toBe(first.text);
  expect(answer.headers['idempotent-replayed']).toBe('true');
};
const expectFresh = (answer: Answer, status = 200): void => {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.headers['idempotent-replayed']).toBeUndefined();
};

const age = async (key: string, interval: string): Promise<void> => {
  const text = 'update idempotency_keys set created_at = created_at - $2::interval where key = $1 returning key';
  expect(await scene.admin.db.query({ name: 'test-age', text }, [key, interval])).toHaveLength(1);
};

describe('creating a payment', () => {
  test('the same key and bytes replay the first answer, however often, and create nothing more', async () => {
    const key = newKey();
    const first = await calls.create(ordinary, keyed(key));
    expectFresh(first);
    const before = await total();
    for (let i = 0; i < 3; i++) expectReplay(await calls.create(ordinary, keyed(key)), first);
    expect(await total()).toBe(before);
  });

  test('the replay is the first answer even after the payment has changed', async () => {
    const key = newKey();
    const first = await calls.create(ordinary, keyed(key));
    await calls.act(first.json.id, 'cancel');
    expectReplay(await calls.create(ordinary, keyed(key)), first);
  });

  test('another body is 422 idempotency_mismatch, and the first answer stays', async () => {
    const key = newKey();
    const first = await calls.create(ordinary, keyed(key));
    const before = await total();
    expectError(await calls.create({ ...ordinary, amount: '26' }, keyed(key)), 422, 'idempotency_mismatch');
    // The bytes of the body are compared, not their meaning.
    expectError(await calls.create(` ${JSON.stringify(ordinary)}`, keyed(key)), 422, 'idempotency_mismatch');
    expect(await total()).toBe(before);
    expectReplay(await calls.create(ordinary, keyed(key)), first);
  });

  test('many at once with one key never create two payments', async () => {
    for (let round = 0; round < 5; round++) {
      const key = newKey();
      const before = await total();
      const answers = await Promise.all(Array.from({ length: 20 }, () => calls.create(ordinary, keyed(key))));
      const fresh = answers.filter(answer => answer.status === 200 && !answer.headers['idempotent-replayed']);
      expect(fresh).toHaveLength(1);
      for (const answer of answers) {
        if (answer === fresh[0]) continue;
        if (answer.status === 409) expectError(answer, 409, 'idempotency_in_progress');
        else expectReplay(answer, fresh[0]!);
      }
      expect(await total()).toBe(before + 1);
      expectReplay(await calls.create(ordinary, keyed(key)), fresh[0]!);
    }
  });

  test('requests without a key are never replays', async () => {
    const [first, second] = [await calls.create(), await calls.create()];
    expectFresh(first);
    expectFresh(second);
    expect(second.json.id).not.toBe(first.json.id);
  });
});

describe('the scope of a key', () => {
  test('is the account', async () => {
    const key = newKey();
    const first = await calls.create(ordinary, keyed(key));
    const other = await paymentCalls(scene, await scene.account()).create({ ...ordinary, amount: '99' }, keyed(key));
    expectFresh(other);
    expect(other.json.id).not.toBe(first.json.id);
  });

  test('is shared by the keys of one account', async () => {
    const key = newKey();
    const first = await calls.create(ordinary, keyed(key));
    const second = await scene.key(account.id, 'sandbox');
    expectReplay(await calls.create(ordinary, { ...keyed(key), key: second.key }), first);
  });

  test('is the environment', async () => {
    const scope = { accountId: account.id, environment: 'production' } as const;
    await setWallet(scene.admin, scope, 'ethereum', { treasury: '0x00000000000000000000000000000000000a11ce' });
    const live = paymentCalls(scene, account, 'production');
    await until(
      () => live.create({ ...ordinary, network: 'ethereum' }),
      answer => answer.status === 200,
    );
    const key = newKey();
    const body = { ...ordinary, network: 'ethereum' };
    const first = await calls.create(body, keyed(key));
    expectFresh(first);
    const second = await live.create(body, keyed(key));
    expectFresh(second);
    expect(second.json.environment).toBe('production');
    expectReplay(await calls.create(body, keyed(key)), first);
    expectReplay(await live.create(body, keyed(key)), second);
  });

  test('is the path', async () => {
    const key = newKey();
    const { id } = (await calls.create(ordinary, keyed(key))).json;
    const other = await calls.made();
    const canceled = await calls.act(id, 'cancel', keyed(key));
    expectFresh(canceled);
    expectFresh(await calls.act(other.id, 'cancel', keyed(key)));
    expectReplay(await calls.act(id, 'cancel', keyed(key)), canceled);
  });

  test('is told apart by case', async () => {
    const key = newKey();
    await calls.create(ordinary, keyed(key));
    expectFresh(await calls.create({ ...ordinary, amount: '26' }, keyed(key.toUpperCase())));
  });

  test('does not reach GET: reading with a key reads', async () => {
    const key = newKey();
    const { id } = (await calls.create(ordinary, keyed(key))).json;
    const read = () => scene.client.call('GET', `/v1/payments/${id}`, { key: account.keys.sandbox, ...keyed(key) });
    expect((await read()).json.status).toBe('pending');
    await calls.act(id, 'cancel');
    expect((await read()).json.status).toBe('canceled');
  });
});

describe('which answers are kept', () => {
  test('a success of cancel: the retry is no 409', async () => {
    const { id } = await calls.made();
    const key = newKey();
    const first = await calls.act(id, 'cancel', keyed(key));
    expectFresh(first);
    expectReplay(await calls.act(id, 'cancel', keyed(key)), first);
    expectError(await calls.act(id, 'cancel', keyed(newKey())), 409, 'conflict');
  });

  test('409 of creation', async () => {
    await calls.made({ externalId: 'kept-409' });
    const key = newKey();
    const body = { ...ordinary, externalId: 'kept-409' };
    const refused = await calls.create(body, keyed(key));
    expectError(refused, 409, 'conflict', 'externalId');
    expectReplay(await calls.create(body, keyed(key)), refused);
    expectError(await calls.create(ordinary, keyed(key)), 422, 'idempotency_mismatch');
  });

  test('409 of resolve', async () => {
    const { id } = await calls.made();
    const key = newKey();
    const sending = { body: { action: 'accept' }, ...keyed(key) };
    const refused = await calls.act(id, 'resolve', sending);
    expectError(refused, 409, 'conflict');
    expectReplay(await calls.act(id, 'resolve', sending), refused);
  });

  test('not 400: the corrected request goes through under the same key', async () => {
    const key = newKey();
    expectInvalid(await calls.create({ ...ordinary, amount: '0' }, keyed(key)), 'amount');
    expectInvalid(await calls.create({ ...ordinary, unknown: 1 }, keyed(key)), 'unknown');
    expectFresh(await calls.create(ordinary, keyed(key)));
  });

  test('not 404', async () => {
    const key = newKey();
    for (const id of ['pay_00000000000000000000000000', 'pay_00000000000000000000000000']) {
      const answer = await calls.act(id, 'cancel', keyed(key));
      expectFresh(answer, 404);
    }
    const left = { name: 'test-left', text: 'select key from idempotency_keys where key = $1' };
    expect(await scene.admin.db.query(left, [key])).toEqual([]);
  });

  test('not 503: another body under the same key is no mismatch', async () => {
    const key = newKey();
    const live = paymentCalls(scene, account, 'production');
    expectError(await live.create(ordinary, keyed(key)), 503, 'network_unavailable');
    expectError(await live.create({ ...ordinary, amount: '26' }, keyed(key)), 503, 'network_unavailable');
  });

  test('not 401 and 403', async () => {
    const key = newKey();
    const reader = await scene.key(account.id, 'sandbox', ['payments:read']);
    expectError(await calls.create(ordinary, { ...keyed(key), key: null }), 401, 'unauthorized');
    expectError(await calls.create(ordinary, { ...keyed(key), key: reader.key }), 403, 'permission_denied');
    expectFresh(await calls.create(ordinary, keyed(key)));
  });
});

describe('the key itself', () => {
  test.each([
    ['one character', 'a'],
    ['255 characters', 'k'.repeat(255)],
    ['every visible ASCII character', Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('')],
  ])('may be %s', async (_, key) => {
    const first = await calls.create(ordinary, keyed(key));
    expectFresh(first);
    expectReplay(await calls.create(ordinary, keyed(key)), first);
  });

  test.each([
    ['empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
    ['with a space inside', 'a b'],
    ['with a tab inside', 'a\tb'],
    ['with a letter beyond ASCII', 'caf\u00e9'],
  ])('may not be %s', async (_, key) => {
    const before = await total();
    expectInvalid(await calls.create(ordinary, keyed(key)), 'Idempotency-Key');
    expect(await total()).toBe(before);
  });
});

describe('24 hours', () => {
  test('a minute before they are over the answer is still replayed', async () => {
    const key = newKey();
    const first = await calls.create(ordinary, keyed(key));
    await age(key, '23 hours 59 minutes');
    expectReplay(await calls.create(ordinary, keyed(key)), first);
  });

  test('after them the key is free again, with another body too', async () => {
    const key = newKey();
    const first = await calls.create(ordinary, keyed(key));
    await age(key, '24 hours');
    const second = await calls.create({ ...ordinary, amount: '26' }, keyed(key));
    expectFresh(second);
    expect(second.json.id).not.toBe(first.json.id);
    expectReplay(await calls.create({ ...ordinary, amount: '26' }, keyed(key)), second);
  });

  test('after them a kept refusal ends as well', async () => {
    const { id } = await calls.made();
    const key = newKey();
    const sending = { body: { action: 'accept' }, ...keyed(key) };
    expectError(await calls.act(id, 'resolve', sending), 409, 'conflict');
    await age(key, '24 hours');
    expectFresh(await calls.act(id, 'resolve', sending), 409);
  });
});
