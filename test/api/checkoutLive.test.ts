import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { type CheckoutScene, startCheckoutScene, tokenOf } from './checkoutScene.ts';

/** Frequent heartbeats: once one has arrived, a test knows that nothing came before it. */
let scene: CheckoutScene;
beforeAll(async () => {
  scene = await startCheckoutScene({ pollMs: 50, heartbeatMs: 100 });
});

const stateOf = (data: string): string => / data-state="([^"]*)"/.exec(data)![1]!;
const versionOf = async (id: string): Promise<string> =>
  / data-version="([^"]*)"/.exec((await scene.get(`${id}/main`)).text)![1]!;
const simulate = async (id: string, outcome: string): Promise<void> => {
  const token = tokenOf((await scene.get(id)).text)!;
  expect((await scene.post(id, { token, outcome })).status).toBe(303);
};
/** Waits for `count` heartbeats. */
const beats = (live: { beats(): number }, count: number): Promise<unknown> => {
  const wanted = live.beats() + count;
  return until(
    async () => live.beats(),
    seen => seen >= wanted,
  );
};

describe('what is sent', () => {
  test('a snapshot to one who brings nothing, under the headers of the page', async () => {
    const { id } = await scene.calls.made();
    const live = await scene.live(id);
    expect(live.status).toBe(200);
    expect(live.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^req_/),
    });
    const { event, data, id: version } = await live.until(() => true);
    expect(event).toBe('main');
    expect(version).toBe(await versionOf(id));
    expect(data).toBe((await scene.get(`${id}/main`)).text);
    live.close();
  });

  test('a snapshot to one who has an older version, and to one who has this no more than that', async () => {
    const { id } = await scene.calls.made();
    const version = await versionOf(id);
    const asking = {
      older: [{ lastEventId: 'older' }, { query: '?have=older' }, { lastEventId: 'older', query: `?have=${version}` }],
      same: [{ lastEventId: version }, { query: `?have=${version}` }, { lastEventId: version, query: '?have=older' }],
    };
    const open = (of: keyof typeof asking) => Promise.all(asking[of].map(options => scene.live(id, options)));
    const [older, same] = [await open('older'), await open('same')];
    for (const each of older) expect((await each.until(() => true)).id).toBe(version);
    for (const each of same) expect(await each.until(() => true)).toEqual({ event: 'same', data: version });
    for (const each of [...older, ...same]) {
      await beats(each, 5);
      expect(each.events.length).toBe(1);
      each.close();
    }
  });

  test('each state that a payment goes through, and nothing twice', async () => {
    const { id } = await scene.calls.made();
    const live = await scene.live(id);
    await live.until(({ data }) => stateOf(data) === 'waiting');
    await simulate(id, 'underpaid');
    expect((await live.until(({ data }) => stateOf(data) === 'underpaid')).data).toContain('12.50');
    await simulate(id, 'paid');
    const last = await live.until(({ data }) => stateOf(data) === 'completed');
    // New blocks must not change a completed page.
    await simulate((await scene.calls.made()).id, 'paid');
    await beats(live, 10);
    expect(live.events.at(-1)).toEqual(last);
    expect(new Set(live.events.map(event => event.id)).size).toBe(live.events.length);
    expect(last.data).toBe((await scene.get(`${id}/main`)).text);
    live.close();
  });

  test('overpayment, late money and the wrong token', async () => {
    const [over, late, stray] = [await scene.calls.made(), await scene.calls.made(), await scene.calls.made()];
    const pages = await Promise.all([over, late, stray].map(({ id }) => scene.live(id)));
    await Promise.all([simulate(over.id, 'overpaid'), simulate(late.id, 'late'), simulate(stray.id, 'wrong_token')]);
    await pages[0]!.until(({ data }) => stateOf(data) === 'overpaid');
    await pages[1]!.until(({ data }) => stateOf(data) === 'completed');
    const before = pages[2]!.events[0]!;
    await pages[2]!.until(({ id, data }) => id !== before.id && stateOf(data) === 'waiting');
    for (const page of pages) page.close();
  });

  test('a merchant’s cancellation, in the language of each page', async () => {
    const { id } = await scene.calls.made();
    const pages = [await scene.live(id, { query: '?lang=de' }), await scene.live(id, { query: '?lang=ar' })];
    await scene.calls.act(id, 'cancel');
    for (const [i, language] of ['de', 'ar'].entries()) {
      const { data } = await pages[i]!.until(event => stateOf(event.data) === 'canceled');
      expect(data).toBe((await scene.get(`${id}/main?lang=${language}`)).text);
      expect(pages[i]!.headers['content-language']).toBe(language);
      pages[i]!.close();
    }
  });

  test('nothing of another payment', async () => {
    const [mine, other] = [await scene.calls.made(), await scene.calls.made()];
    const [live, beside] = [await scene.live(mine.id), await scene.live(other.id)];
    await simulate(other.id, 'paid');
    await beside.until(({ data }) => stateOf(data) === 'completed');
    await beats(live, 3);
    expect(live.events.length).toBe(1);
    expect(live.text()).not.toContain(other.id);
    expect(live.text()).not.toContain(other.address);
    live.close();
    beside.close();
  });

  test('heartbeats that a script hears, and how soon to come back', async () => {
    const { id } = await scene.calls.made();
    const live = await scene.live(id);
    await beats(live, 3);
    expect(live.text()).toMatch(/^retry: \d+\n\n/);
    expect(live.text()).toMatch(/\n\nevent: beat\ndata:\n\n/);
    live.close();
  });
});

describe('what is refused', () => {
  test('an id that nothing has', async () => {
    const live = await scene.live(`pay_${'0'.repeat(26)}`);
    expect([live.status, live.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect((await scene.florin.client.call('HEAD', `/checkout/${(await scene.calls.made()).id}/live`)).status).toBe(
      405,
    );
  });
});

test('a stream that its client leaves is in the access log, once', async () => {
  const { id } = await scene.calls.made();
  const live = await scene.live(id);
  await live.until(() => true);
  const requestId = live.headers['x-request-id'];
  const lines = async () => scene.requests.filter(line => line.requestId === requestId);
  expect(await lines()).toEqual([]);
  live.close();
  const [line] = await until(lines, found => found.length > 0);
  expect(line).toMatchObject({ environment: 'sandbox', method: 'GET', route: '/checkout/:id/live', status: 200 });
  expect(line!.durationMs).toBeGreaterThan(0);
  await scene.get(id);
  expect((await lines()).length).toBe(1);
});

test('a stop ends open pages, and takes no new ones', async () => {
  const own = await startCheckoutScene();
  const { id } = await own.calls.made();
  const live = await own.live(id);
  await live.until(() => true);
  await Promise.all([own.stop(), live.ended]);
  expect(own.requests.filter(({ requestId }) => requestId === live.headers['x-request-id']).length).toBe(1);
  await expect(own.live(id)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
