// @module-tag thorough
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { cutDatabase } from '../support/cutDatabase.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { until } from '../support/until.ts';
import { type DeliveryScene, type Merchant, startDeliveryScene } from './deliveryScene.ts';
import { answering, type Receiver } from './receiver.ts';

vi.setConfig({ testTimeout: 120_000 });

let scene: DeliveryScene;
let merchant: Merchant;
let receiver: Receiver;
let endpoint: { id: string };
beforeAll(async () => {
  scene = await startDeliveryScene();
});
beforeEach(async () => {
  merchant = await scene.merchant();
  receiver = await scene.receiver();
  endpoint = await merchant.endpoint(receiver.url);
});

const allSucceed = (count: number, at = scene) =>
  at.untilDeliveries(endpoint, rows => rows.length === count && rows.every(({ status }) => status === 'succeeded'));
const holds = (count: number) =>
  until(
    async () => receiver.received.length,
    all => all >= count,
  );
const endConnections = (name: string) =>
  scene.sql(
    `select pid, pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like $1`,
    name,
  );
const listeners = async (): Promise<number[]> => {
  const text = `select pid from pg_stat_activity where datname = current_database() and application_name = 'florin listener'
    and query like 'listen %'`;
  return (await scene.sql(text)).map(({ pid }) => pid);
};

/** Takes the database away until `work` is done. */
const withoutDatabase = async (at: DeliveryScene, work: () => Promise<void> | void): Promise<void> => {
  const database = await cutDatabase(at.deliverer.DATABASE_URL!);
  try {
    await work();
  } finally {
    await database.restore();
  }
  await until(
    () => at.sql('select 1 as one'),
    rows => rows.length === 1,
  );
};

describe('the connection that hears of deliveries', () => {
  test('may be lost: deliveries go on, and it is opened again', async () => {
    const before = await until(listeners, pids => pids.length === 1);
    expect(await endConnections('florin listener')).toHaveLength(1);
    await merchant.calls.made();
    await allSucceed(1);
    await until(listeners, pids => pids.length === 1 && pids[0] !== before[0]);
    await merchant.calls.made();
    await allSucceed(2);
  });

  test('may be lost again and again while there is much to deliver', async () => {
    await scene.backlog(merchant, endpoint, 300);
    for (let i = 0; i < 5; i++) {
      await endConnections('florin%');
      await scene.backlog(merchant, endpoint, 100);
    }
    await allSucceed(800);
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(800);
  });
});

describe('while the database is away', () => {
  test('answers that arrive are kept and written when it is back: nothing is sent twice', async () => {
    receiver.answer = () => {};
    await scene.backlog(merchant, endpoint, 4);
    await holds(4);
    await withoutDatabase(scene, () => {
      receiver.answer = answering(200);
      receiver.release(200);
    });
    const rows = await allSucceed(4);
    expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
    await merchant.calls.made();
    await allSucceed(5);
    expect(receiver.received).toHaveLength(5);
  });

  test('nothing is lost that comes before, during and after', async () => {
    receiver.answer = response => void setTimeout(() => response.end(), 5);
    await scene.backlog(merchant, endpoint, 500);
    await holds(20);
    await withoutDatabase(scene, () => {});
    await scene.backlog(merchant, endpoint, 50);
    await allSucceed(550);
    const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    expect(ids.size).toBe(550);
  });
});

test('while answers cannot be written, only so much is sent', { tags: ['thorough'] }, async () => {
  await scene.florin.admin.db.transaction(async tx => {
    await tx.query({ name: '', text: 'lock table delivery_attempts in access exclusive mode' });
    await scene.backlog(merchant, endpoint, 3_000);
    await holds(1_001);
    // Long enough for all the others, if they were sent.
    const other = await scene.merchant();
    for (let i = 0; i < 30; i++) await other.calls.made();
    expect(receiver.received.length).toBeLessThan(1_000 + 2 * 200);
  });
  await allSucceed(3_000);
  expect(receiver.received).toHaveLength(3_000);
});

test('deliveries that cannot be parked hold nobody up', { tags: ['thorough'] }, async () => {
  const closed = await merchant.endpoint(`${receiver.url}/closed`);
  // More targets than one poll page lie between it and the last one.
  const between = await scene.merchant();
  await scene.sql(
    `with made as (
        insert into events (account_id, environment, id, type, body, created_at)
        select $1, 'sandbox', 'evt_' || substr(md5(i::text), 1, 26), 'webhook.test', '{}', clock_timestamp()
        from generate_series(1, 1500) i returning account_id, environment, id, created_at
      )
      insert into deliveries (account_id, environment, id, event_id, callback_url, next_attempt_at, created_at)
      select account_id, environment, delivery_id(id, 'callback'), id, 'http://' || id || '.localhost:9/',
        created_at + interval '1 day', created_at from made`,
    between.account.id,
  );
  const later = await scene.merchant();
  const failing = await scene.receiver(answering(500));
  const retried = await later.endpoint(failing.url);
  await later.calls.made();
  await scene.untilDelivery(retried, ({ failures }) => failures === 1);
  await scene.sql(`create function refuse_parking() returns trigger language plpgsql as
    $$ begin if new.status = 'parked' then raise 'not now'; end if; return new; end $$`);
  await scene.sql(
    `create trigger refuse_parking before update on deliveries for each row execute function refuse_parking()`,
  );
  await scene.sql(`update webhook_endpoints set status = 'disabled', disabled_reason = 'x' where id = $1`, closed.id);
  await scene.backlog(merchant, closed, 20);
  for (let i = 0; i < 5; i++) await scene.backlog(merchant, endpoint, 20);
  await allSucceed(100);
  // Only the poll finds a retry.
  failing.answer = answering(200);
  await scene.makeDue(retried);
  await scene.untilDelivery(retried, ({ status }) => status === 'succeeded');
  await scene.sql(`drop trigger refuse_parking on deliveries`);
  await scene.untilDeliveries(closed, rows => rows.every(({ status }) => status === 'parked'));
  expect(receiver.received.filter(({ path }) => path === '/closed')).toEqual([]);
});

describe('a stop', () => {
  /** A separate Florin, because it will be stopped. */
  const delivering = async (answer: Receiver['answer']) => {
    const own = await startDeliveryScene({ roles: 'api,watch' });
    const second = await startSecondFlorin(own.deliverer.DATABASE_URL!, { ...own.deliverer });
    merchant = await own.merchant();
    receiver = await own.receiver(answer);
    endpoint = await merchant.endpoint(receiver.url);
    return { own, second };
  };

  test('ends attempts that hang, gives back all claims, and the next start delivers', {
    tags: ['thorough'],
  }, async () => {
    const { own, second } = await delivering(answering(200));
    try {
      await own.backlog(merchant, endpoint, 40);
      await allSucceed(40, own);
      receiver.answer = () => {};
      await own.backlog(merchant, endpoint, 100);
      await holds(60);
      await second.stop();
      const rows = (await own.deliveries(endpoint)).filter(({ status }) => status === 'scheduled');
      expect(rows).toHaveLength(100);
      expect(rows.every(({ isClaimed, attempts, failures }) => !isClaimed && attempts === 0 && failures === 0)).toBe(
        true,
      );

      receiver.answer = answering(200);
      const next = await startSecondFlorin(own.deliverer.DATABASE_URL!, { ...own.deliverer });
      try {
        await allSucceed(140, own);
      } finally {
        await next.stop();
      }
    } finally {
      await second.stop();
      await own.florin.stop();
    }
  });

  test('waits for answers that are on their way, and writes them down', async () => {
    const { own, second } = await delivering(() => {});
    try {
      await own.backlog(merchant, endpoint, 4);
      await holds(4);
      const stopped = second.stop();
      receiver.release(200);
      await stopped;
      const rows = await own.deliveries(endpoint);
      expect(rows.map(({ status, attempts }) => [status, attempts])).toEqual(Array(4).fill(['succeeded', 1]));
    } finally {
      await own.florin.stop();
    }
  });

  test('ends also while the database is away; what was not written is sent again', { tags: ['thorough'] }, async () => {
    const { own, second } = await delivering(() => {});
    try {
      await own.backlog(merchant, endpoint, 4);
      await holds(4);
      await withoutDatabase(own, async () => {
        receiver.release(200);
        await second.stop();
      });
      // Claims expire by themselves; the test ends them early.
      await own.sql(`update deliveries set claimed_until = clock_timestamp() where endpoint_id = $1`, endpoint.id);
      receiver.answer = answering(200);
      const next = await startSecondFlorin(own.deliverer.DATABASE_URL!, { ...own.deliverer });
      try {
        await allSucceed(4, own);
      } finally {
        await next.stop();
      }
      expect(receiver.received).toHaveLength(8);
    } finally {
      await own.florin.stop();
    }
  });
});
