import { beforeAll, describe, expect, test, vi } from 'vitest';
import { examineRecords, examineSeals } from '../../src/cli/doctorChecks.ts';
import { verifyAuditLogs } from '../../src/engine/chain/verifyRecords.ts';
import { merchant, merchantPerTest, scene } from '../deliveries/merchantPerTest.ts';
import { answering, type Received, verify } from '../deliveries/receiver.ts';
import { tablesWithText } from '../support/findTexts.ts';
import { makeRoom, run } from './cliProcess.ts';

vi.setConfig({ testTimeout: 120_000 });

merchantPerTest();
let room: string;
beforeAll(async () => {
  room = await makeRoom();
});

const florin = (...args: string[]) => run(args, room, scene.deliverer);
const erase = async (...args: string[]) => {
  const { code, stdout, stderr } = await florin('erase', '--yes', '--json', ...args);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

/** As a person's name is: in a text, in metadata with what only its source text keeps, and in an address. */
const personal = (word: string) => ({
  description: `Order of ${word} "Ö" \\`,
  redirectUrl: `https://shop.example/thanks?name=${word}`,
});
const metadataOf = (word: string): string => `{"b":1e400,"10":"${word}","a":{"\\u0000":0.10}}`;

const create = (word: string, { key = `create-${word.length}`, more = {} }: { key?: string; more?: object } = {}) => {
  const order = { amount: '25', currency: 'USDC', network: 'base', ...personal(word), ...more };
  const body = `${JSON.stringify(order).slice(0, -1)},"metadata":${metadataOf(word)}}`;
  return merchant.calls.create(body, { headers: { 'idempotency-key': key } });
};
const made = async (word: string, more: object = {}) => {
  const answer = await create(word, { more });
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
const cancel = async ({ id }: { id: string }, key: string) => {
  const answer = await merchant.calls.act(id, 'cancel', { headers: { 'idempotency-key': key } });
  expect(answer.status, answer.text).toBe(200);
  return answer;
};
const echoing = (response: Parameters<ReturnType<typeof answering>>[0], received: Received): void =>
  answering(200, {}, received.body)(response, received);

const expectSound = async (): Promise<void> => {
  const { admin, config } = scene.florin;
  expect((await examineSeals(config, admin)).problems).toEqual([]);
  expect((await verifyAuditLogs(admin)).problems).toEqual([]);
  expect(await examineRecords(admin.db)).toEqual({ ok: true, detail: 'nothing is missing' });
};

describe('florin erase', () => {
  test('leaves no text of the payment anywhere, and everything else as it was', async () => {
    const word = 'Zwqx-Erasable';
    const receiver = await scene.receiver(echoing);
    const { id: endpointId, secret } = await merchant.endpoint(receiver.url);
    const payment = await made(word, { externalId: 'order 7' });
    const kept = (await create('Zwqx-Kept', { key: 'keep-it' })).json;
    const canceled = await cancel(payment, 'cancel-it');
    await scene.untilDeliveries(
      { id: endpointId },
      rows => rows.length === 3 && rows.every(each => each.status === 'succeeded'),
    );
    const before = (await merchant.call('GET', `/events?paymentId=${payment.id}`)).json.data;
    expect(await tablesWithText(scene.florin.admin.db, word)).toEqual([
      'public.delivery_attempts: 2',
      'public.events: 2',
      'public.idempotency_keys: 2',
      'public.payments: 1',
    ]);

    const report = await erase('--payment', payment.id);
    expect(report.payments).toEqual([{ id: payment.id, payment: true, events: 2, responses: 2, answers: 2 }]);
    expect(await tablesWithText(scene.florin.admin.db, word)).toEqual([]);

    const blank = { description: null, metadata: {}, redirectUrl: null };
    const read = await merchant.calls.read(payment.id);
    expect(read.json).toEqual({ ...canceled.json, ...blank });
    expect(Object.keys(read.json)).toEqual(Object.keys(canceled.json));
    const after = (await merchant.call('GET', `/events?paymentId=${payment.id}`)).json.data;
    expect(after).toEqual(before.map((event: { data: object }) => ({ ...event, data: { ...event.data, ...blank } })));

    // The same requests again: the same answers, without the texts. A repeated order makes no second payment.
    const again = await create(word, { more: { externalId: 'order 7' } });
    expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(again.json).toEqual({ ...payment, ...blank });
    expect((await cancel(payment, 'cancel-it')).json).toEqual({ ...canceled.json, ...blank });
    expect((await create(word, { key: 'another', more: { externalId: 'order 7' } })).status).toBe(409);

    // What is sent again is what is stored now, and its signature is of that.
    const [delivery] = await scene.deliveries(payment);
    expect((await merchant.call('POST', `/deliveries/${delivery!.id}/resend`)).status).toBe(200);
    await scene.untilDelivery(delivery!, ({ status, attempts }) => status === 'succeeded' && attempts === 2);
    expect(verify(secret, receiver.received.at(-1)!)).toEqual(after.at(-1));

    expect(await tablesWithText(scene.florin.admin.db, word)).toEqual([]);
    expect((await merchant.calls.read(kept.id)).text).toContain(metadataOf('Zwqx-Kept'));
    const [row] = await scene.sql(
      `select actor_kind, detail from audit_log where subject = $1 and action = 'payment.erased'`,
      payment.id,
    );
    expect(row).toEqual({
      actor_kind: 'operator',
      detail: { fields: ['description', 'metadata', 'redirectUrl'], events: 2, responses: 2, answers: 2 },
    });
    await expectSound();
  });

  test('finds nothing the second time, and writes nothing', { tags: ['thorough'] }, async () => {
    const payment = await made('twice');
    await cancel(payment, 'c');
    await erase('--payment', payment.id);
    const { payments } = await erase('--payment', payment.id);
    expect(payments).toEqual([{ id: payment.id, payment: false, events: 0, responses: 0, answers: 0 }]);
    expect(
      await scene.sql(`select 1 from audit_log where subject = $1 and action = 'payment.erased'`, payment.id),
    ).toHaveLength(1);
  });

  test('erases the order number and the address of callbacks if asked to', { tags: ['thorough'] }, async () => {
    const receiver = await scene.receiver(answering(500));
    const payment = await made('more', {
      externalId: 'Zwqx Number',
      callbackUrl: `${receiver.url}/paid?name=Zwqx+Number`,
    });
    await cancel(payment, 'c');
    await scene.untilDeliveries(
      payment,
      rows => rows.length === 2 && rows.every(({ failures, isClaimed }) => failures === 1 && !isClaimed),
    );
    const { id } = (await scene.deliveries(payment))[0]!;
    // A client may write a path in another way.
    const paths = [`/deliveries/${id}/resend`, `/deliveries/${id.replace('_', '%5F')}/resend`];
    const resend = (at: number) =>
      scene.florin.client.call('POST', `/v1${paths[at]!}`, {
        key: merchant.account.keys.sandbox,
        headers: { 'idempotency-key': `resend-${at}` },
      });
    const resent = [await resend(0), await resend(1)];
    for (const answer of resent) expect(answer.text).toContain('Zwqx+Number');
    await scene.untilDelivery({ id }, ({ failures, isClaimed }) => failures > 1 && !isClaimed);
    // Not while it is being sent again.
    await scene.sql(
      `update deliveries set next_attempt_at = now() + interval '1 hour' where account_id = $1`,
      merchant.account.id,
    );
    await erase('--payment', payment.id);
    expect((await merchant.calls.read(payment.id)).json).toMatchObject({
      externalId: 'Zwqx Number',
      callbackUrl: payment.callbackUrl,
    });

    const report = await erase('--payment', payment.id, '--external-id', '--callback-url');
    expect(report.payments[0].answers).toBe(4);
    for (const word of ['Zwqx Number', 'Zwqx+Number']) {
      expect(await tablesWithText(scene.florin.admin.db, word)).toEqual([]);
    }
    expect((await merchant.calls.read(payment.id)).json).toMatchObject({ externalId: null, callbackUrl: null });
    const rows = await scene.deliveries(payment);
    expect(rows.map(({ status, parkedReason }) => [status, parkedReason])).toEqual(
      Array(2).fill(['parked', 'the address of the callback was erased']),
    );
    for (const at of [0, 1]) expect((await resend(at)).json).toEqual({ ...resent[at]!.json, url: receiver.url });
    const sent = receiver.received.length;
    expect((await merchant.call('POST', `/deliveries/${rows[0]!.id}/resend`)).status).toBe(409);
    expect(receiver.received).toHaveLength(sent);
    await expectSound();
  });

  test.each([
    ['is unknown', async () => `pay_${'0'.repeat(26)}`, 3, /No payment has the id .* Nothing was erased/],
    [
      'waits for its payer',
      async () => (await made('open')).id,
      1,
      /is pending\. .* Cancel it, or wait until it has ended/,
    ],
  ])('refuses all if one payment %s', async (_, other, code, message) => {
    const payment = await made('refused');
    await cancel(payment, 'c');
    const ended = await florin('erase', '--yes', '--payment', payment.id, await other());
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
    expect((await merchant.calls.read(payment.id)).json.description).toContain('refused');
  });

  test('asks first', async () => {
    const payment = await made('unasked');
    await cancel(payment, 'c');
    const ended = await florin('erase', '--payment', payment.id);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('--yes')]);
    expect((await merchant.calls.read(payment.id)).json.description).toContain('unasked');
  });
});

describe('what somebody who can write to the database does', { tags: ['thorough'] }, () => {
  const ended = async () => {
    const payment = await made('forged');
    await cancel(payment, 'c');
    return payment;
  };
  const refusesToErase = async (id: string) => {
    const { code, stderr } = await florin('erase', '--yes', '--payment', id);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('was changed in the database. Nothing of this payment was erased'),
    ]);
  };

  test.each([
    ['the description', `update payments set description = null where id = $1`],
    ['the metadata', `update payments set metadata = '{}' where id = $1`],
    ['the order number', `update payments set external_id = null, redirect_url = null where id = $1`],
  ])('to blank %s is found, and not made right by erasing', async (_, sql) => {
    const { id } = await ended();
    await scene.sql(sql, id);
    expect((await merchant.calls.read(id)).status).toBe(500);
    const { problems } = await examineSeals(scene.florin.config, scene.florin.admin);
    expect(problems).toContainEqual(expect.stringContaining(`${id} was changed in the database`));
    await refusesToErase(id);
  });

  test('to blank the texts of an event stops its delivery, and is not made right by erasing', async () => {
    const receiver = await scene.receiver();
    const { id } = await ended();
    const [{ body }] = await scene.sql(`select body from events where payment_id = $1 and sequence = 2`, id);
    const event = JSON.parse(body);
    const blank = { description: null, metadata: {}, redirectUrl: null };
    const put = (data: object) =>
      scene.sql(
        `update events set body = $2, row_seal = sha256('forged') where payment_id = $1 and sequence = 2`,
        id,
        JSON.stringify({ ...event, data }),
      );
    // The database lets texts go away, and nothing else.
    for (const more of [{ description: 'another' }, { status: 'completed' }, { metadata: { a: 1 } }, { more: 1 }]) {
      await expect(put({ ...event.data, ...blank, ...more })).rejects.toMatchObject({ code: '23000' });
    }
    await put({ ...event.data, ...blank });
    const endpoint = await merchant.endpoint(receiver.url);
    await merchant.call('POST', `/webhooks/${endpoint.id}/replay`, { from: event.timestamp, to: event.timestamp });
    await scene.untilDelivery(endpoint, ({ status }) => status === 'parked');
    expect(receiver.received).toEqual([]);
    await refusesToErase(id);
  });
});
