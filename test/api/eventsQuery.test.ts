import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { manyEventId, writeManyEvents } from '../support/manyEvents.ts';
import type { Answer } from '../support/send.ts';
import { type EventCalls, eventCalls } from './eventCalls.ts';
import { expectInvalid } from './paymentCalls.ts';

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

describe('a range of time', () => {
  const times = [
    '2026-01-30T23:59:59.999Z',
    '2026-01-31T00:00:00.000Z',
    '2026-01-31T12:00:00.000Z',
    '2026-01-31T12:00:00.001Z',
    '2026-01-31T23:59:59.999Z',
    '2026-02-01T00:00:00.000Z',
  ];
  let timed: EventCalls;
  beforeAll(async () => {
    timed = eventCalls(scene, await scene.account());
    const { id: paymentId } = await timed.made();
    for (const [i, time] of times.entries()) {
      const event = { accountId: timed.account.id, paymentId, atMs: Date.parse(time), first: i + 2, count: 1 };
      await writeManyEvents(scene.admin.db, event);
    }
  });
  const expectTimes = async (query: string, first: number, last: number): Promise<void> => {
    const listed = await timed.events(`${query}&type=payment.stray`);
    const expected = times.slice(first, last + 1).map((_, i) => first + i + 2);
    expect(listed.map(({ sequence }) => sequence).reverse(), query).toEqual(expected);
  };

  test('includes the milliseconds that it names', async () => {
    await expectTimes(`from=${times[2]}&to=${times[3]}`, 2, 3);
    await expectTimes(`from=${times[2]}&to=${times[2]}`, 2, 2);
    await expectTimes(`from=${times[3]}`, 3, 5);
    await expectTimes(`to=${times[1]}`, 0, 1);
  });

  test('of bare dates is whole UTC days; times without an offset are UTC', async () => {
    await expectTimes('from=2026-01-31&to=2026-01-31', 1, 4);
    await expectTimes('from=2026-01-31', 1, 5);
    await expectTimes('to=2026-01-31', 0, 4);
    await expectTimes('from=2026-01-31T12:00&to=2026-01-31T12:00:00.000', 2, 2);
    await expectTimes(`from=${encodeURIComponent('2026-01-31T13:00:00+01:00')}&to=2026-01-31`, 2, 4);
  });

  test('may reach to the ends of the calendar', async () => {
    await expectTimes('from=0001-01-01&to=9999-12-31', 0, 5);
    await expectTimes('to=1969-12-31', 0, -1);
    await expectTimes('from=9999-12-31', 0, -1);
  });

  test('bounds the pages of a cursor as well', async () => {
    const cursor = manyEventId(Date.parse(times[4]!), 6);
    await expectTimes(`from=2026-01-31&to=2026-02-01&cursor=${cursor}`, 1, 3);
    await expectTimes(`to=2026-01-30&cursor=${cursor}`, 0, 0);
  });
});

describe('parameters that are refused', () => {
  let shop: EventCalls;
  beforeAll(async () => {
    shop = eventCalls(scene, await scene.account());
  });
  const ask = (query: string): Promise<Answer> => shop.get(`/events?${query}`);

  test.each(['0', '101', '-1', '1.5', '', 'ten'])('limit=%s', async value => {
    expectInvalid(await ask(`limit=${value}`), 'limit');
  });

  test.each([
    '',
    '0',
    'evt_1',
    `evt_${'0'.repeat(25)}`,
    `evt_${'0'.repeat(27)}`,
    `evt_${'u'.repeat(26)}`,
    `evt_8${'0'.repeat(25)}`,
    `dlv_${'0'.repeat(26)}`,
    `EVT_${'0'.repeat(26)}`,
    '%00',
  ])('cursor=%s', async value => {
    expectInvalid(await ask(`cursor=${value}`), 'cursor');
  });

  test.each(['', '*', 'payment.paid', 'Payment.Created', 'payment.created,payment.late'])('type=%s', async value => {
    const answer = await ask(`type=${value}`);
    expectInvalid(answer, 'type');
    expect(answer.json.error.message).toContain('payment.completed');
  });

  test.each(['', '%00', 'x'.repeat(41)])('paymentId=%s', async value => {
    expectInvalid(await ask(`paymentId=${value}`), 'paymentId');
  });

  test.each(['', 'yesterday', '2026-02-30', '2026-01-31T25:00:00Z', '1769860800', '2026'])(
    'the time %s',
    async value => {
      expectInvalid(await ask(`from=${value}`), 'from');
      expectInvalid(await ask(`to=${value}`), 'to');
    },
  );

  test('from later than to, by a millisecond and by a day', async () => {
    expectInvalid(await ask('from=2026-01-31T12:00:00.001Z&to=2026-01-31T12:00:00.000Z'), 'from');
    expectInvalid(await ask('from=2026-02-01&to=2026-01-31'), 'from');
  });

  test.each(['offset', 'status', 'Type', 'sort', 'endpointId', '__proto__'])('the unknown parameter %s', async name => {
    const answer = await ask(`${name}=1`);
    expectInvalid(answer, name);
    expect(answer.json.error.message).toContain(name);
  });

  test.each(['limit=5', `cursor=evt_${'0'.repeat(26)}`, 'type=payment.created', 'from=2026-01-01'])(
    '%s given twice',
    async pair => expectInvalid(await ask(`${pair}&${pair}`), pair.split('=')[0]),
  );
});
