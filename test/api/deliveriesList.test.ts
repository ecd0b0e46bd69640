import { beforeAll, describe, expect, test } from 'vitest';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { type EventCalls, eventCalls, idsOf } from './eventCalls.ts';
import { expectError, expectInvalid } from './paymentCalls.ts';

/** Without the deliverer, each delivery keeps the status that the test sets. */
let scene: TestFlorin;
let shop: EventCalls;
let endpointId: string;
/** Newest first, as listed. */
let all: Answer['json'][];
const statuses = ['scheduled', 'succeeded', 'parked'] as const;
const statusAt = (index: number) => statuses[index % 7 === 6 ? 2 : index % 2];

const put = (id: string, status: (typeof statuses)[number]): Promise<void> => {
  const finished = `next_attempt_at = null, finished_at = now(), attempts = 1`;
  const set = { succeeded: finished, parked: `${finished}, parked_reason = 'all failed'`, scheduled: 'attempts = 0' };
  return scene.admin.db.script(`update deliveries set status = '${status}', ${set[status]} where id = '${id}'`);
};

const url = 'http://127.0.0.1:9/';
beforeAll(async () => {
  scene = await startTestFlorin();
  shop = eventCalls(scene, await scene.account());
  endpointId = (await shop.endpoint(url)).id;
  // A second endpoint: its deliveries must not appear in the list of the first.
  await shop.endpoint(url);
  for (let i = 0; i < 25; i++) await shop.made({ callbackUrl: 'http://127.0.0.1:9/callback' });
  for (const [index, { id }] of (await shop.deliveries(endpointId)).entries()) await put(id, statusAt(index)!);
  all = await shop.deliveries(endpointId);
  expect(all).toHaveLength(25);
});

const list = (query = ''): Promise<Answer> => shop.get(`/webhooks/${endpointId}/deliveries${query}`);

describe('pages', () => {
  test('are of the endpoint alone, in the order of events, newest first', async () => {
    const events = (await shop.events()).filter(({ type }) => type !== 'account.security');
    expect(all.map(({ eventId }) => eventId)).toEqual(idsOf(events));
    expect(all.every(each => each.endpointId === endpointId && each.url === url)).toBe(true);
    expect((await list()).json).toEqual({
      data: all.slice(0, 20),
      pagination: { limit: 20, hasMore: true, nextCursor: all[19].id },
    });
    expect((await list('?limit=25')).json.pagination).toEqual({ limit: 25, hasMore: false, nextCursor: null });
    expect((await list('?limit=24')).json.pagination).toEqual({ limit: 24, hasMore: true, nextCursor: all[23].id });
  });

  test.each([1, 4, 24])('of %i, walked by cursor, meet every delivery once', async limit => {
    const pages = await shop.walk(`/webhooks/${endpointId}/deliveries?limit=${limit}`);
    expect(pages.flat()).toEqual(all);
  });

  test.each(statuses)('of those that are %s', async status => {
    const expected = all.filter(each => each.status === status);
    expect(expected.length).toBeGreaterThan(1);
    expect(await shop.deliveries(endpointId, `status=${status}`)).toEqual(expected);
    expect((await shop.walk(`/webhooks/${endpointId}/deliveries?limit=2&status=${status}`)).flat()).toEqual(expected);
  });

  test('have neither gap nor repetition while new ones arrive and others are delivered', async () => {
    const busy = eventCalls(scene, await scene.account());
    const { id } = await busy.endpoint(url);
    for (let i = 0; i < 9; i++) await busy.made();
    const before = idsOf(await busy.deliveries(id));
    const settled = before.filter((_, index) => index % 2 === 1);
    const pages = await busy.walk(`/webhooks/${id}/deliveries?limit=2`, async () => {
      await busy.made();
      await put(settled.pop()!, 'succeeded');
    });
    expect(idsOf(pages.flat())).toEqual(before);
    expect(await busy.deliveries(id)).toHaveLength(before.length + 4);
  });

  test('of a new endpoint are empty', async () => {
    const { id } = await shop.endpoint(url);
    expect((await shop.get(`/webhooks/${id}/deliveries`)).text).toBe(
      '{"data":[],"pagination":{"limit":20,"hasMore":false,"nextCursor":null}}',
    );
  });
});

test('an event has the deliveries to its endpoints and to its callbackUrl', async () => {
  const { data } = await shop.got(`/events/${all[0].eventId}/deliveries`);
  expect(data).toHaveLength(3);
  expect(data).toContainEqual(all[0]);
  expect(data.filter((each: { endpointId: string | null }) => each.endpointId === null)).toMatchObject([
    { url: 'http://127.0.0.1:9/callback', type: 'payment.created', eventId: all[0].eventId, status: 'scheduled' },
  ]);
});

test('deliveries of an event are read from page to page as well', async () => {
  const path = `/events/${all[0].eventId}/deliveries`;
  const { data } = await shop.got(path);
  const pages = await shop.walk(`${path}?limit=2`);
  expect(pages.map(({ length }) => length)).toEqual([2, 1]);
  expect(pages.flat()).toEqual(data);
});

describe('parked deliveries', () => {
  type Listed = { id: string; status: string; endpointId: string | null };
  const parked = '/deliveries?status=parked';
  let owner: EventCalls;
  /** To the endpoint and to the callback, newest first. */
  let expected: Listed[];
  beforeAll(async () => {
    owner = eventCalls(scene, await scene.account());
    await owner.endpoint(url);
    const made: Listed[] = [];
    for (let i = 0; i < 12; i++) await owner.made({ callbackUrl: `${url}callback` });
    for (const { id } of await owner.events()) {
      const { data } = (await owner.got(`/events/${id}/deliveries`)) as { data: Listed[] };
      // Ids made in one millisecond have no order, and each status is to be met with both kinds.
      made.push(...data.toSorted((a, b) => Number(a.endpointId === null) - Number(b.endpointId === null)));
    }
    expect(made).toHaveLength(24);
    for (const [index, { id }] of made.entries()) await put(id, statuses[index % 3]!);
    const read = await Promise.all(made.map(({ id }) => owner.got(`/deliveries/${id}`)));
    const shown: Listed[] = read.map(({ log, ...delivery }) => delivery);
    expected = shown.filter(({ status }) => status === 'parked').toSorted((a, b) => (a.id < b.id ? 1 : -1));
  });

  test('are listed whether they went to an endpoint or to a callbackUrl, and no others are', async () => {
    expect(new Set(expected.map(each => each.endpointId === null))).toEqual(new Set([true, false]));
    expect((await owner.got(parked)).data).toEqual(expected);
    expect(expected).toHaveLength(8);
  });

  test.each([1, 3, 7])('in pages of %i, walked by cursor, are met once each', async limit => {
    expect((await owner.walk(`${parked}&limit=${limit}`)).flat()).toEqual(expected);
  });

  test('end with the last page', async () => {
    expect((await owner.got(`${parked}&limit=8`)).pagination).toEqual({ limit: 8, hasMore: false, nextCursor: null });
    const nextCursor = expected[6]!.id;
    expect((await owner.got(`${parked}&limit=7`)).pagination).toEqual({ limit: 7, hasMore: true, nextCursor });
  });

  test('are the list of one account in one environment', async () => {
    const nothing = '{"data":[],"pagination":{"limit":20,"hasMore":false,"nextCursor":null}}';
    for (const asker of [eventCalls(scene, owner.account, 'production'), eventCalls(scene, await scene.account())]) {
      expect((await asker.get(parked)).text).toBe(nothing);
      expect((await asker.get(`${parked}&cursor=${expected[0]!.id}`)).text).toBe(nothing);
    }
    expect((await shop.got(parked)).data).toEqual(all.filter(({ status }) => status === 'parked'));
  });

  test('leave it when they are sent again', async () => {
    const again = eventCalls(scene, await scene.account());
    await again.made({ callbackUrl: `${url}callback` });
    const [event] = await again.events();
    const [{ id }] = (await again.got(`/events/${event.id}/deliveries`)).data;
    await put(id, 'parked');
    expect(idsOf((await again.got(parked)).data)).toEqual([id]);
    expect((await again.post(`/deliveries/${id}/resend`)).status).toBe(200);
    expect((await again.got(parked)).data).toEqual([]);
  });
});

test('a change of the address is told for deliveries that are there, a deletion takes the list away', async () => {
  const moved = eventCalls(scene, await scene.account());
  const { id } = await moved.endpoint(url);
  await moved.made();
  const key = moved.account.keys.sandbox;
  await scene.client.call('PATCH', `/v1/webhooks/${id}`, { key, body: { url: `${url}moved` } });
  const [delivery] = await moved.deliveries(id);
  expect(delivery.url).toBe(`${url}moved`);
  await scene.client.call('DELETE', `/v1/webhooks/${id}`, { key });
  expectError(await moved.get(`/webhooks/${id}/deliveries`), 404, 'not_found');
  expect(await moved.got(`/deliveries/${delivery.id}`)).toEqual({ ...delivery, log: [] });
  expect((await moved.got(`/events/${delivery.eventId}/deliveries`)).data).toEqual([delivery]);
});

describe('what is refused', () => {
  test.each(['0', '101', '-1', '1.5', '', 'ten'])('limit=%s', async value => {
    expectInvalid(await list(`?limit=${value}`), 'limit');
  });

  test.each(['', '0', 'dlv_1', `dlv_${'0'.repeat(25)}`, `dlv_${'0'.repeat(27)}`, `evt_${'0'.repeat(26)}`, '%00'])(
    'cursor=%s',
    async value => expectInvalid(await list(`?cursor=${value}`), 'cursor'),
  );

  test.each(['', 'failed', 'Scheduled', 'scheduled,parked', 'null'])('status=%s', async value => {
    const answer = await list(`?status=${value}`);
    expectInvalid(answer, 'status');
    expect(answer.json.error.message).toContain('parked');
  });

  test.each(['offset', 'type', 'from', 'eventId', '__proto__'])('the unknown parameter %s', async name => {
    expectInvalid(await list(`?${name}=1`), name);
  });

  test.each(['limit=0', 'cursor=dlv_1', 'status=parked'])('%s of the deliveries of an event', async query => {
    expectInvalid(await shop.get(`/events/${all[0].eventId}/deliveries?${query}`), query.split('=')[0]!);
  });

  test.each(['', 'scheduled', 'succeeded', 'Parked', 'parked,scheduled'])('status=%s across endpoints', async value => {
    const answer = await shop.get(`/deliveries?status=${value}`);
    expectInvalid(answer, 'status');
    expect(answer.json.error.message).toContain('parked');
  });

  test.each([
    ['', 'status'],
    ['?limit=1', 'status'],
    ['?status=parked&limit=0', 'limit'],
    [`?status=parked&cursor=evt_${'0'.repeat(26)}`, 'cursor'],
    ['?status=parked&endpointId=we_1', 'endpointId'],
  ])('/deliveries%s', async (query, name) => expectInvalid(await shop.get(`/deliveries${query}`), name));

  test.each([`we_${'0'.repeat(26)}`, 'we_none', '%00', `dlv_${'0'.repeat(26)}`])('the endpoint %s', async id => {
    expectError(await shop.get(`/webhooks/${id}/deliveries`), 404, 'not_found');
  });
});
