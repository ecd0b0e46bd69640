import { expect, test } from 'vitest';
import { startWebhookReceiver } from '../api/webhookReceiver.ts';
import { until } from '../support/until.ts';
import { startMoneyScene } from './moneyScene.ts';

const receiver = await startWebhookReceiver();
const scene = await startMoneyScene({ env: { FLORIN_ROLES: 'api,watch,deliver' } });
const { owner, calls } = scene;

const storyOf = async (id: string) => (await owner.do('GET /payments/:id', { params: { id } })).timeline;
const kindsOf = (timeline: { kind: string }[]) => timeline.map(({ kind }) => kind);

test('one payment, one story: made, paid, told, stray, swept, and what people did', async () => {
  let answered = 0;
  receiver.answer = response => {
    answered += 1;
    response.writeHead(answered === 1 ? 500 : 200).end();
  };
  const made = await calls.made({ amount: '12.5', callbackUrl: `${receiver.url}/hook?token=1` });
  await until(
    () => storyOf(made.id),
    story => story.some(({ kind }) => kind === 'delivery'),
  );
  const params = { id: made.id };
  await owner.do('POST /payments/:id/simulate', { params, body: { outcome: 'wrong_token' } });
  await until(
    () => storyOf(made.id),
    story => story.some(({ kind }) => kind === 'stray'),
  );
  await scene.simulate(made.id, 'paid', 'completed');
  const { transactions } = await scene.plan({ network: 'base', currency: 'USDC' });
  const { transactionHash } = await scene.chain.send({ to: transactions[0]!.to, data: transactions[0]!.data });
  const body = { network: 'base', currency: 'USDC', txHash: transactionHash, payments: [made.id] };
  await owner.do('POST /settlement/sweeps', { body });
  const story = await until(
    () => storyOf(made.id),
    entries =>
      entries.some(({ kind, detail }) => kind === 'sweep' && detail.canonical === true) &&
      entries.filter(({ kind, detail }) => kind === 'delivery' && detail.outcome === 'succeeded').length >= 3,
  );

  expect(story[0]).toMatchObject({ kind: 'created', title: 'The payment was created.', at: made.createdAt });
  const times = story.map(({ at }) => Date.parse(at));
  expect(times).toEqual([...times].sort((a, b) => a - b));
  const one = (kind: string, part: object = {}) =>
    expect(story).toContainEqual(expect.objectContaining({ kind, ...part }));
  one('delivery', {
    title: `payment.created could not be delivered to ${new URL(receiver.url).host}: answered 500.`,
    detail: expect.objectContaining({ outcome: 'failed', statusCode: 500 }),
    refs: { deliveryId: expect.stringMatching(/^dlv_/), eventId: expect.stringMatching(/^evt_/) },
  });
  one('delivery', { detail: expect.objectContaining({ outcome: 'succeeded', statusCode: 200 }) });
  one('stray', {
    title: expect.stringMatching(/^1\.00 \w+ arrived\. It is not the token and network of this payment\.$/),
  });
  one('transfer', {
    title: '12.50 USDC arrived.',
    refs: { txHash: expect.stringMatching(/^0x/), explorerUrl: null },
    detail: expect.objectContaining({ canonical: true, confirmations: expect.any(Number) }),
  });
  one('state', { title: 'The payment was completed.', refs: { eventId: expect.stringMatching(/^evt_/) } });
  one('sweep', {
    title: '12.50 USDC was swept to the treasury.',
    refs: { txHash: transactionHash, explorerUrl: null, actor: 'Owner 1' },
  });
  expect(kindsOf(story).lastIndexOf('sweep')).toBeGreaterThan(kindsOf(story).indexOf('transfer'));
  // The query of a webhook URL may be secret and must not show.
  expect(JSON.stringify(story)).not.toContain('token=1');
});

test('funds that a reorg took stay in the story, as such', async () => {
  const payment = await scene.paid({ amount: '4' });
  await scene.simulate(payment.id, 'reorg', 'reversed');
  const story = await storyOf(payment.id);
  expect(story).toContainEqual(
    expect.objectContaining({
      kind: 'transfer',
      title: '4.00 USDC arrived, and a chain reorganization removed it.',
      detail: expect.objectContaining({ canonical: false, confirmations: null }),
    }),
  );
  expect(story.at(-1)).toMatchObject({ title: 'A chain reorganization reversed the payment.' });
});

test('dust hides nothing of what became of a payment, and the story says that it is cut', async () => {
  const payment = await scene.make({ amount: '6' });
  const asked = () => owner.do('GET /payments/:id', { params: { id: payment.id } });
  expect((await asked()).isCut).toBe(false);
  const event = (from: number, to: number, type: string, status: string) =>
    scene.dashboard.scene.admin.db.script(`insert into events
      (account_id, environment, id, payment_id, sequence, type, status, previous_status, body, created_at)
      select account_id, environment, 'evt_' || lpad((900000 + n)::text, 26, '0'), id, n, '${type}', '${status}', '${status}', '{}',
        created_at + n * interval '1 millisecond'
      from payments, generate_series(${from}, ${to}) n where id = '${payment.id}'`);
  await event(2, 341, 'payment.stray', 'pending');
  await event(342, 342, 'payment.completed', 'completed');
  await event(343, 500, 'payment.stray', 'completed');
  const { timeline, isCut } = await asked();
  const states = timeline.filter(({ kind }) => kind === 'state');
  const types = Map.groupBy(states, ({ detail }) => detail.type as string);
  expect(timeline[0]).toMatchObject({ kind: 'created' });
  expect(types.get('payment.completed')).toHaveLength(1);
  expect(types.get('payment.stray')!.map(({ detail }) => detail.sequence)).toEqual(
    Array.from({ length: 100 }, (_, at) => 401 + at),
  );
  expect(isCut).toBe(true);
});

test('health of webhooks counts what came of deliveries, and an answer opens the way to production', async () => {
  receiver.reset();
  const { webhooks } = await owner.do('GET /home');
  expect(webhooks.endpoints).toEqual([]);
  expect(webhooks.callbacks.succeeded).toBeGreaterThanOrEqual(3);
  const created = await scene.dashboard.scene.client.call('POST', '/v1/webhooks', {
    key: scene.account.keys.sandbox,
    body: { url: `${receiver.url}/all`, events: ['*'] },
  });
  expect(created.status, created.text).toBe(200);
  await scene.make();
  const health = async () => (await owner.do('GET /home')).webhooks.endpoints;
  await until(health, ([endpoint]) => endpoint!.succeeded === 1);
  expect(await health()).toEqual([
    {
      id: created.json.id,
      url: `${receiver.url}/all`,
      status: 'enabled',
      succeeded: 1,
      retrying: 0,
      waiting: 0,
      parked: 0,
      failedAttempts: 0,
    },
  ]);
});

test('failed attempts are counted as attempts, also once the delivery has succeeded or is sent again', async () => {
  receiver.reset();
  receiver.answer = response => response.writeHead(500).end();
  const { endpoint } = await owner
    .prove()
    .then(() => owner.do('POST /webhooks', { body: { url: `${receiver.url}/flaky`, events: ['payment.created'] } }));
  await scene.make();
  const health = async () => (await owner.do('GET /home')).webhooks.endpoints.find(({ id }) => id === endpoint.id)!;
  expect(await until(health, ({ retrying }) => retrying === 1)).toMatchObject({ succeeded: 0, failedAttempts: 1 });
  receiver.reset();
  const { data } = await owner.do('GET /webhooks/:id/deliveries', { params: { id: endpoint.id } });
  const params = { id: data[0]!.id };
  for (const attempts of [2, 3]) {
    await owner.do('POST /deliveries/:id/resend', { params });
    await until(
      () => owner.do('GET /deliveries/:id', { params }),
      delivery => delivery.status === 'succeeded' && delivery.attempts === attempts,
    );
    expect(await health()).toMatchObject({ succeeded: 1, retrying: 0, waiting: 0, parked: 0, failedAttempts: 1 });
  }
});
