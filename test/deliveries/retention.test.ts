import { beforeAll, describe, expect, test } from 'vitest';
import type { Queryable } from '../../src/storage/database.ts';
import { readNow } from '../../src/storage/databaseClock.ts';
import { type ClaimedDelivery, claimDeliveries, releaseDeliveries } from '../../src/storage/webhooks/deliveries.ts';
import { purgeResponses, recordAttempts } from '../../src/storage/webhooks/deliveryAttempts.ts';
import { purgeDeliveries } from '../../src/storage/webhooks/deliveryLog.ts';
import { eventually } from '../support/until.ts';
import { type DeliveryScene, startDeliveryScene } from './deliveryScene.ts';
import { merchant, merchantPerTest, scene } from './merchantPerTest.ts';
import { answering } from './receiver.ts';

merchantPerTest();

const purge = (days: number, limit = 1_000) => purgeDeliveries(scene.florin.admin.db, days, limit);
/** Moves the rows this far into the past. */
const age = (endpointId: string, days: number) =>
  scene.sql(
    `update deliveries set created_at = created_at - $2 * interval '1 day', finished_at = finished_at - $2 * interval '1 day'
      where endpoint_id = $1`,
    endpointId,
    days,
  );

describe('the purge', () => {
  test('removes what succeeded longer ago than the policy says, with its attempts, and nothing else', async () => {
    const endpointFor = async (answer = answering(200)) => merchant.endpoint((await scene.receiver(answer)).url);
    const [old, young, failing] = [await endpointFor(), await endpointFor(), await endpointFor(answering(500))];
    const parked = await endpointFor(answering(410));
    const payment = await merchant.calls.made();
    await scene.untilDelivery(old, ({ status }) => status === 'succeeded');
    await scene.untilDelivery(young, ({ status }) => status === 'succeeded');
    await scene.untilDelivery(failing, ({ failures }) => failures === 1);
    await scene.untilDelivery(parked, ({ status }) => status === 'parked');
    for (const { id } of [old, failing, parked]) await age(id, 31);
    await age(young.id, 29);

    expect(await purge(30)).toBe(1);
    expect(await scene.deliveries(old)).toEqual([]);
    for (const each of [young, failing, parked]) {
      const [row] = await scene.deliveries(each);
      expect(await scene.attempts(row!.id)).toHaveLength(1);
    }
    const [{ n }] = await scene.sql(
      `select count(*)::int as n from delivery_attempts where account_id = $1`,
      merchant.account.id,
    );
    expect(n).toBe(3);
    expect((await merchant.call('GET', `/events?paymentId=${payment.id}`)).json.data).toHaveLength(1);
    expect(await purge(30)).toBe(0);
    expect(await purge(0)).toBe(1);
    expect((await scene.deliveries(payment)).map(({ endpointId }) => endpointId).toSorted()).toEqual(
      [failing.id, parked.id].toSorted(),
    );
  });

  test('erases old answers of receivers, and leaves all else, so that a delivery is resent as before', async () => {
    const receiver = await scene.receiver(answering(410, {}, 'Dear Zoë, no'));
    const endpoint = await merchant.endpoint(receiver.url);
    await merchant.calls.made();
    const parked = await scene.untilDelivery(endpoint, ({ status }) => status === 'parked');
    const [before] = await scene.attempts(parked.id);
    const { db } = scene.florin.admin;
    expect(before!.response.toString()).toBe('Dear Zoë, no');
    expect(await purgeResponses(db, 1, 100)).toBe(0);
    expect(await purgeResponses(db, 0, 100)).toBeGreaterThan(0);
    expect(await scene.attempts(parked.id)).toEqual([{ ...before, response: Buffer.alloc(0) }]);
    expect(await purgeResponses(db, 0, 100)).toBe(0);

    receiver.answer = answering(200);
    expect((await merchant.call('PATCH', `/webhooks/${endpoint.id}`, { status: 'enabled' })).status).toBe(200);
    expect((await merchant.call('POST', `/deliveries/${parked.id}/resend`)).status).toBe(200);
    await scene.untilDelivery(endpoint, ({ status, attempts }) => status === 'succeeded' && attempts === 2);
    expect(receiver.received[1]!.body).toEqual(receiver.received[0]!.body);
    // Only to nothing.
    const change = scene.sql(`update delivery_attempts set response = 'other' where delivery_id = $1`, parked.id);
    await expect(change).rejects.toMatchObject({ code: '23000' });
  });

  test('takes the oldest first, so many at a time', async () => {
    const endpoint = await merchant.endpoint((await scene.receiver()).url);
    await scene.backlog(merchant, endpoint, 30);
    await scene.untilDeliveries(endpoint, rows => rows.every(({ status }) => status === 'succeeded'));
    await age(endpoint.id, 40);
    // Not in the order of their ids, and with distinct times, unlike rows recorded together.
    const byAge: { id: string; place: string }[] = await scene.sql(
      `with places as (select id, row_number() over (order by md5(id)) as place from deliveries where endpoint_id = $1)
        update deliveries d set finished_at = d.created_at + p.place * interval '1 second'
        from places p where d.id = p.id returning d.id, p.place`,
      endpoint.id,
    );
    const youngest = byAge.toSorted((a, b) => Number(b.place) - Number(a.place)).slice(0, 5);
    expect(await purge(30, 25)).toBe(25);
    const left = (await scene.deliveries(endpoint)).map(({ id }) => id);
    expect(left.toSorted()).toEqual(youngest.map(({ id }) => id).toSorted());
    expect(await purge(30, 25)).toBe(5);
  });

  test('leaves what was sent again and is not delivered yet', async () => {
    const receiver = await scene.receiver();
    const endpoint = await merchant.endpoint(receiver.url);
    await merchant.calls.made();
    const { id } = await scene.untilDelivery(endpoint, ({ status }) => status === 'succeeded');
    await age(endpoint.id, 40);
    receiver.answer = answering(500);
    await merchant.call('POST', `/deliveries/${id}/resend`);
    await scene.untilDelivery(endpoint, ({ failures }) => failures === 1);
    expect(await purge(30)).toBe(0);
    expect(await scene.attempts(id)).toHaveLength(2);
  });
});

describe('an attempt goes with its delivery', () => {
  const claimed = async () => {
    const merchant = await idle.merchant();
    const endpoint = await merchant.endpoint('http://127.0.0.1:9/');
    await idle.backlog(merchant, endpoint, 1);
    const wanted = { accountId: merchant.account.id, environment: 'sandbox' as const, target: endpoint.id };
    const claim = { holder: 'a', seconds: 60, since: await readNow(db()) };
    const [delivery] = await claimDeliveries(db(), [{ ...wanted, first: 1, retries: 0 }], claim);
    return delivery!;
  };
  const record = (at: Queryable, delivery: ClaimedDelivery) =>
    recordAttempts(at, [
      {
        ...delivery,
        deliveryId: delivery.id,
        atMs: Date.now(),
        signature: 'v1,x',
        statusCode: 200,
        error: null,
        durationMs: 1,
        response: Buffer.alloc(0),
        status: 'succeeded',
        delayMs: null,
        parkedReason: null,
        gone: false,
      },
    ]);
  const db = () => idle.florin.admin.db;
  const remove = (id: string) => idle.sql('delete from deliveries where id = $1 returning attempts', id);

  let idle: DeliveryScene;
  beforeAll(async () => {
    idle = await startDeliveryScene({ roles: 'api,watch' });
  });

  test('none is written for one that is gone', async () => {
    const delivery = await claimed();
    await remove(delivery.id);
    await record(db(), delivery);
    expect(await idle.attempts(delivery.id)).toEqual([]);
  });

  test.each([true, false])(
    'one that is written while its delivery is being removed goes, too (claim holds: %s)',
    async holds => {
      const delivery = await claimed();
      if (!holds) await releaseDeliveries(db(), [delivery]);
      let removed: Promise<unknown[]> | undefined;
      await db().transaction(async tx => {
        await record(tx, delivery);
        removed = remove(delivery.id);
        const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        await eventually(async () => expect(await idle.sql(waiting)).toHaveLength(1));
      });
      expect(await removed).toEqual([{ attempts: 1 }]);
      expect(await idle.attempts(delivery.id)).toEqual([]);
    },
  );
});

describe('the log of an attempt', () => {
  test.each([
    ['text', Buffer.from('thanks, Grüße')],
    ['bytes that are no text', Buffer.from([0, 255, 254, 0xc3, 0x28, 0xed, 0xa0, 0x80, 10, 0])],
    ['nothing', Buffer.alloc(0)],
  ])('keeps the answer as it came: %s', async (_, body) => {
    const receiver = await scene.receiver(response => void response.end(body));
    const endpoint = await merchant.endpoint(receiver.url);
    await merchant.calls.made();
    const { id } = await scene.untilDelivery(endpoint, ({ status }) => status === 'succeeded');
    const [attempt] = await scene.attempts(id);
    expect(attempt!.response.equals(body)).toBe(true);
    const shown = (await merchant.call('GET', `/deliveries/${id}`)).json;
    expect(shown.log).toMatchObject([{ statusCode: 200, error: null, response: body.toString('utf8') }]);
  });

  test.each([200, 500])('keeps the first 16 KiB of a huge answer (%i)', async statusCode => {
    const huge = Buffer.alloc(1_000_000, 'ab\u{1f388}');
    const receiver = await scene.receiver(response => void response.writeHead(statusCode).end(huge));
    const endpoint = await merchant.endpoint(receiver.url);
    await merchant.calls.made();
    const { id } = await scene.untilDelivery(endpoint, ({ attempts }) => attempts === 1);
    const [attempt] = await scene.attempts(id);
    expect(attempt).toMatchObject({ statusCode });
    expect(attempt!.response.equals(huge.subarray(0, 16_384))).toBe(true);
    expect((await merchant.call('GET', `/deliveries/${id}`)).status).toBe(200);
  });
});
