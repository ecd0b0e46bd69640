import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { manyEventId, writeManyEvents } from '../support/manyEvents.ts';
import { type EventCalls, eventCalls, idsOf } from './eventCalls.ts';
import { expectError } from './paymentCalls.ts';

let scene: TestFlorin;
let shop: EventCalls;
let paymentIds: string[];
/** The stored events, newest first. */
let stored: { id: string; type: string; paymentId: string; body: string }[];
beforeAll(async () => {
  scene = await startTestFlorin();
  shop = eventCalls(scene, await scene.account());
  paymentIds = [];
  for (let i = 0; i < 12; i++) {
    // The digits, key order and escapes must come back unchanged.
    const body = `{"amount":"1","currency":"USDC","network":"base","metadata":{"z":1.50,"a":"\\u00e9","n":${i}}}`;
    paymentIds.push((await shop.create(body)).json.id);
  }
  for (const id of paymentIds.slice(4)) expect((await shop.act(id, 'cancel')).status).toBe(200);
  stored = await scene.admin.db.query(
    {
      name: 'test-stored-events',
      text: `select id, type, payment_id as "paymentId", body from events
        where account_id = $1 and environment = 'sandbox' order by id desc`,
    },
    [shop.account.id],
  );
  expect(stored).toHaveLength(20);
});

const page = (rows: typeof stored, limit: number, nextCursor: string | null): string =>
  `{"data":[${rows.map(row => row.body).join(',')}],"pagination":{"limit":${limit},"hasMore":${nextCursor !== null},"nextCursor":${JSON.stringify(nextCursor)}}}`;

describe('an event', () => {
  test('is answered byte for byte as it is stored', async () => {
    for (const { id, body } of stored) {
      const answer = await shop.get(`/events/${id}`);
      expect(answer.status).toBe(200);
      expect(answer.text).toBe(body);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    }
    expect(stored[0]!.body).toContain('"metadata":{"z":1.50,"a":"\\u00e9","n":11}');
  });

  test.each([
    'evt_none',
    `evt_${'0'.repeat(26)}`,
    `pay_${'0'.repeat(26)}`,
    `evt_${'Z'.repeat(26)}`,
    '%00',
    'x'.repeat(150),
  ])('that nobody has is 404: %s', async id => {
    expectError(await shop.get(`/events/${id}`), 404, 'not_found');
    expectError(await shop.get(`/events/${id}/deliveries`), 404, 'not_found');
  });

  test('of another account or environment is 404', async () => {
    const [id] = idsOf(stored);
    const askers = [eventCalls(scene, await scene.account()), eventCalls(scene, shop.account, 'production')];
    for (const asker of askers) {
      expectError(await asker.get(`/events/${id}`), 404, 'not_found');
      expectError(await asker.get(`/events/${id}/deliveries`), 404, 'not_found');
    }
  });
});

describe('pages', () => {
  test('by default the newest 20, byte for byte', async () => {
    expect((await shop.get('/events')).text).toBe(page(stored, 20, null));
  });

  test.each([
    [1, 1],
    [19, 19],
    [20, null],
    [21, null],
    [100, null],
  ])('limit %i', async (limit, last) => {
    const cursor = last === null ? null : stored[last - 1]!.id;
    expect((await shop.get(`/events?limit=${limit}`)).text).toBe(page(stored.slice(0, limit), limit, cursor));
  });

  test.each([1, 3, 7, 10, 20])('of %i, walked by cursor, meet every event once, in order', async limit => {
    const pages = await shop.walk(`/events?limit=${limit}`);
    expect(pages.slice(0, -1).every(each => each.length === limit)).toBe(true);
    expect(idsOf(pages.flat())).toEqual(idsOf(stored));
    expect(pages).toHaveLength(Math.ceil(20 / limit));
  });

  test('have neither gap nor repetition while new events arrive', async () => {
    const busy = eventCalls(scene, await scene.account());
    for (let i = 0; i < 11; i++) await busy.made();
    const before = idsOf(await busy.events());
    const pages = await busy.walk('/events?limit=2', () => busy.made());
    expect(idsOf(pages.flat())).toEqual(before);
    expect((await busy.events()).length).toBe(before.length + 5);
  });

  test('tell events of one millisecond apart', async () => {
    const busy = eventCalls(scene, await scene.account());
    const { id: paymentId } = await busy.made();
    const atMs = Date.parse('2026-01-31T12:00:00Z');
    await writeManyEvents(scene.admin.db, { accountId: busy.account.id, paymentId, atMs, first: 2, count: 25 });
    const pages = await busy.walk('/events?limit=4');
    const [newest, ...rest] = pages.flat();
    expect([newest.type, rest.map(({ sequence }) => sequence)]).toEqual([
      'payment.created',
      Array.from({ length: 25 }, (_, i) => 26 - i),
    ]);
  });

  test('of an account without events are empty', async () => {
    const answer = await eventCalls(scene, await scene.account()).get('/events?limit=3');
    expect(answer.text).toBe(page([], 3, null));
  });

  test('go on from any event, and end at the oldest', async () => {
    const pageAfter = (cursor: string) => shop.got(`/events?limit=2&cursor=${cursor}`);
    expect(idsOf((await pageAfter(stored[4]!.id)).data)).toEqual(idsOf(stored.slice(5, 7)));
    expect(await pageAfter(stored[19]!.id)).toEqual({
      data: [],
      pagination: { limit: 2, hasMore: false, nextCursor: null },
    });
    // An unknown id still marks a point in time.
    expect((await pageAfter(`evt_7${'z'.repeat(25)}`)).data).toHaveLength(2);
  });
});

describe('filters', () => {
  const expectListed = async (query: string, isMeant: (event: (typeof stored)[number]) => boolean): Promise<void> => {
    const expected = stored.filter(isMeant);
    expect(idsOf(await shop.events(query)), query).toEqual(idsOf(expected));
    expect(idsOf((await shop.walk(`/events?limit=3&${query}`)).flat()), query).toEqual(idsOf(expected));
  };

  test.each(['payment.created', 'payment.canceled', 'payment.completed', 'webhook.test'])('type=%s', type =>
    expectListed(`type=${type}`, event => event.type === type),
  );

  test('paymentId, alone and with a type', async () => {
    for (const id of [paymentIds[0]!, paymentIds[11]!]) {
      await expectListed(`paymentId=${id}`, event => event.paymentId === id);
      await expectListed(
        `paymentId=${id}&type=payment.canceled`,
        event => event.paymentId === id && event.type === 'payment.canceled',
      );
    }
    await expectListed(`paymentId=${`pay_${'0'.repeat(26)}`}`, () => false);
    await expectListed('paymentId=nonsense', () => false);
  });

  test('the events of a payment are in the order of its history, whatever the clocks of several processes said', async () => {
    const busy = eventCalls(scene, await scene.account());
    const { id: paymentId } = await busy.made();
    const atMs = Date.parse('2026-01-31T12:00:00Z');
    const events = { accountId: busy.account.id, paymentId, count: 5 };
    for (const [i, first] of [2, 7, 12].entries()) {
      await writeManyEvents(scene.admin.db, { ...events, first, atMs: atMs - i });
    }
    const pages = await busy.walk(`/events?limit=4&paymentId=${paymentId}`);
    expect(pages.flat().map(({ sequence }) => sequence)).toEqual(Array.from({ length: 16 }, (_, i) => 16 - i));
    const place = `cursor=${manyEventId(atMs - 1, 9)}`;
    const ofTime = await busy.events(`paymentId=${paymentId}&from=2026-01-31T12:00:00Z&${place}&type=payment.stray`);
    expect(ofTime.map(({ sequence }) => sequence)).toEqual([6, 5, 4, 3, 2]);
    // An id of another payment marks a point in time.
    const earlier = await busy.events(`paymentId=${paymentId}&cursor=${manyEventId(atMs - 1, 0)}`);
    expect(earlier.map(({ sequence }) => sequence)).toEqual([16, 15, 14, 13, 12]);
  });

  test("another account's paymentId finds nothing", async () => {
    const other = eventCalls(scene, await scene.account());
    expect(await other.events(`paymentId=${paymentIds[0]}`)).toEqual([]);
    expect(await eventCalls(scene, shop.account, 'production').events(`paymentId=${paymentIds[0]}`)).toEqual([]);
  });

  test('times of events themselves, both ends included', async () => {
    const timeOf = ({ body }: (typeof stored)[number]): string => JSON.parse(body).timestamp;
    const [newer, older] = [timeOf(stored[5]!), timeOf(stored[14]!)];
    await expectListed(`from=${newer}`, event => timeOf(event) >= newer);
    await expectListed(`to=${older}`, event => timeOf(event) <= older);
    await expectListed(`from=${older}&to=${newer}`, event => timeOf(event) >= older && timeOf(event) <= newer);
    await expectListed(
      `from=${older}&to=${newer}&type=payment.created`,
      event => timeOf(event) >= older && timeOf(event) <= newer && event.type === 'payment.created',
    );
    const paymentId = stored[5]!.paymentId;
    await expectListed(
      `from=${newer}&paymentId=${paymentId}`,
      event => timeOf(event) >= newer && event.paymentId === paymentId,
    );
  });
});

describe('permissions', () => {
  test('payments:read is enough for events, and webhooks:read for their deliveries', async () => {
    const [id] = idsOf(stored);
    const ask = async (scope: 'payments:read' | 'webhooks:read', path: string) => {
      const { key } = await scene.key(shop.account.id, 'sandbox', [scope]);
      return scene.client.call('GET', `/v1${path}`, { key });
    };
    for (const path of ['/events', `/events/${id}`]) {
      expect((await ask('payments:read', path)).status).toBe(200);
      expectError(await ask('webhooks:read', path), 403, 'permission_denied');
    }
    expect((await ask('webhooks:read', `/events/${id}/deliveries`)).json.data).toEqual([]);
    expectError(await ask('payments:read', `/events/${id}/deliveries`), 403, 'permission_denied');
  });
});
