import { rm } from 'node:fs/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import { launch, makeRoom } from '../cli/cliProcess.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { until } from '../support/until.ts';
import { type DeliveryScene, startDeliveryScene } from './deliveryScene.ts';
import { answering, type Receiver } from './receiver.ts';

vi.setConfig({ testTimeout: 120_000 });

let scene: DeliveryScene;
beforeAll(async () => {
  scene = await startDeliveryScene();
});

const startAnother = () => startSecondFlorin(scene.deliverer.DATABASE_URL!, { ...scene.deliverer });
const holds = (receiver: Receiver, count: number) =>
  until(
    async () => receiver.received.length,
    all => all >= count,
  );
const idsOf = (receiver: Receiver): string[] => receiver.received.map(({ headers }) => String(headers['webhook-id']));

test('two share the work: each delivery is made once while nothing fails', { tags: ['thorough'] }, async () => {
  const another = await startAnother();
  try {
    const merchant = await scene.merchant();
    const held = await scene.receiver(() => {});
    const shared = await merchant.endpoint(held.url);
    await scene.backlog(merchant, shared, 100);
    // Each deliverer sends four to a target it does not know yet.
    await holds(held, 8);
    const [{ holders }] = await scene.sql(
      `select count(distinct claimed_by)::int as holders from deliveries where endpoint_id = $1`,
      shared.id,
    );
    expect(holders).toBe(2);
    held.answer = answering(200);
    held.release(200);

    const receivers = [held, await scene.receiver(), await scene.receiver()];
    const endpoints = [shared];
    for (const { url } of receivers.slice(1)) endpoints.push(await merchant.endpoint(url));
    for (const endpoint of endpoints) await scene.backlog(merchant, endpoint, 400);
    await Promise.all(Array.from({ length: 60 }, () => merchant.calls.made()));
    for (const [i, endpoint] of endpoints.entries()) {
      const count = (i === 0 ? 500 : 400) + 60;
      const rows = await scene.untilDeliveries(
        endpoint,
        all => all.length === count && all.every(({ status }) => status === 'succeeded'),
      );
      expect(rows.every(({ attempts, failures }) => attempts === 1 && failures === 0)).toBe(true);
      expect(idsOf(receivers[i]!).toSorted()).toEqual(rows.map(({ eventId }) => eventId).toSorted());
    }
  } finally {
    await another.stop();
  }
});

test('what one was sending when it was killed, the next one on its data sends again, and nothing else', {
  tags: ['thorough'],
}, async () => {
  const quiet = await startDeliveryScene({ roles: 'api,watch' });
  const room = await makeRoom();
  const receiver = await quiet.receiver(() => {});
  const begin = () => launch(['start'], room, { FLORIN_LOG_LEVEL: 'warn', ...quiet.deliverer });
  const processes = [begin()];
  try {
    const merchant = await quiet.merchant();
    const endpoint = await merchant.endpoint(receiver.url);
    receiver.answer = answering(200);
    await quiet.backlog(merchant, endpoint, 50);
    await quiet.untilDeliveries(endpoint, rows => rows.every(({ status }) => status === 'succeeded'));
    receiver.answer = () => {};
    await quiet.backlog(merchant, endpoint, 200);
    await holds(receiver, 60);
    processes[0]!.kill('SIGKILL');
    await processes[0]!.ended;
    const cut = await quiet.sql(
      `select event_id as id from deliveries where endpoint_id = $1 and claimed_until > clock_timestamp()`,
      endpoint.id,
    );
    const before = idsOf(receiver);
    expect(cut.map(({ id }) => id)).toEqual(expect.arrayContaining(before.slice(50)));

    receiver.answer = answering(200);
    processes.push(begin());
    const rows = await quiet.untilDeliveries(
      endpoint,
      all => all.length === 250 && all.every(({ status }) => status === 'succeeded'),
    );
    const after = idsOf(receiver).slice(before.length);
    expect(after.toSorted()).toEqual(
      rows
        .map(({ eventId }) => eventId)
        .filter(id => !before.slice(0, 50).includes(id))
        .toSorted(),
    );
  } finally {
    for (const each of processes) each.kill('SIGTERM');
    await Promise.all(processes.map(each => each.ended));
    await quiet.florin.stop();
    await rm(room, { recursive: true, force: true });
  }
});
