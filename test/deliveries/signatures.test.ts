import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { merchant, merchantPerTest, scene } from './merchantPerTest.ts';
import { answering, type Received, type Receiver, verify } from './receiver.ts';

merchantPerTest();

const received = (receiver: Receiver, count: number): Promise<Received[]> =>
  until(
    async () => receiver.received,
    all => all.length >= count,
  );
const signaturesOf = ({ headers }: Received): string[] => String(headers['webhook-signature']).split(' ');

/** The overlap of one day is over. */
const endOverlap = (endpointId: string) =>
  scene.florin.admin.db.script(
    `update webhook_endpoints set previous_secrets_until[1] = clock_timestamp() - interval '1 second' where id = '${endpointId}'`,
  );

describe('a delivery', () => {
  test('is a POST of the event, byte for byte as it is stored, that an independent library verifies', async () => {
    const receiver = await scene.receiver();
    const { id, secret } = await merchant.endpoint(`${receiver.url}/hooks?a=1`);
    const stranger = await merchant.endpoint(`${receiver.url}/other`, { events: ['payment.canceled'] });
    const payment = await merchant.calls.made({ metadata: { naïve: 'Grüße 🎈', digits: 1e21 } });
    const [got] = (await received(receiver, 1)) as [Received];
    expect(got.path).toBe('/hooks?a=1');
    expect(got.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'Florin' });
    expect(got.headers.authorization).toBeUndefined();

    const { eventId } = await scene.untilDelivery({ id }, ({ status }) => status === 'succeeded');
    expect(got.headers['webhook-id']).toBe(eventId);
    expect(verify(secret, got)).toMatchObject({ id: eventId, type: 'payment.created', data: { id: payment.id } });
    const answer = await merchant.call('GET', `/events/${eventId}`);
    expect(Buffer.from(answer.text).equals(got.body)).toBe(true);
    expect(() => verify(stranger.secret, got)).toThrow();
    expect(() => verify(secret, { ...got, body: Buffer.concat([got.body, Buffer.from(' ')]) })).toThrow();
  });

  test('has equal bytes and an equal id on every retry, and a timestamp of its own that verifies', async () => {
    const receiver = await scene.receiver(answering(500));
    const { id, secret } = await merchant.endpoint(receiver.url);
    await merchant.calls.made();
    for (const attempt of [1, 2, 3]) {
      await scene.untilDelivery({ id }, ({ failures, isClaimed }) => failures === attempt && !isClaimed);
      // An attempt in another second has another timestamp.
      await until(
        async () => Date.now(),
        nowMs => Math.floor(nowMs / 1000) > Number(receiver.received.at(-1)!.headers['webhook-timestamp']),
      );
      await scene.makeDue({ id });
    }
    const all = await received(receiver, 4);
    expect(new Set(all.map(each => each.body.toString('hex'))).size).toBe(1);
    expect(new Set(all.map(each => each.headers['webhook-id'])).size).toBe(1);
    const stamps = all.map(each => Number(each.headers['webhook-timestamp']));
    expect(stamps).toEqual([...new Set(stamps)].sort((a, b) => a - b));
    for (const each of all) expect(verify(secret, each)).toBeTruthy();

    const { id: deliveryId } = (await scene.deliveries({ id }))[0]!;
    const shown = (await merchant.call('GET', `/deliveries/${deliveryId}`)).json;
    const logged = shown.log.map(({ request }: { request: { headers: object } }) => request.headers).reverse();
    for (const [i, headers] of logged.entries()) expect(all[i]!.headers).toMatchObject(headers);
  });

  test('carries metadata, strings and numbers of the merchant untouched', async () => {
    const receiver = await scene.receiver();
    const { secret } = await merchant.endpoint(receiver.url);
    const body = '{"amount":"25","currency":"USDC","network":"base","metadata":{"z":1.50,"a":"\\u00e9\\/","10":1e400}}';
    const answer = await merchant.calls.create(body);
    expect(answer.status, answer.text).toBe(200);
    const [got] = (await received(receiver, 1)) as [Received];
    expect(got.body.toString()).toContain('"metadata":{"z":1.50,"a":"\\u00e9\\/","10":1e400}');
    expect(verify(secret, got)).toBeTruthy();
  });
});

describe('after a rotation', () => {
  test('old and new secret verify for a day, deliveries scheduled before it included; then the new one alone', async () => {
    const receiver = await scene.receiver(answering(500));
    const { id, secret: old } = await merchant.endpoint(receiver.url);
    await merchant.calls.made();
    await scene.untilDelivery({ id }, ({ failures }) => failures === 1);
    const { secret: fresh } = (await merchant.call('POST', `/webhooks/${id}/rotate`)).json;
    await scene.makeDue({ id });
    await scene.untilDelivery({ id }, ({ failures }) => failures === 2);
    await endOverlap(id);
    receiver.answer = answering(200);
    await scene.makeDue({ id });
    await scene.untilDelivery({ id }, ({ status }) => status === 'succeeded');

    const [before, during, after] = receiver.received as [Received, Received, Received];
    expect(signaturesOf(before)).toHaveLength(1);
    expect(verify(old, before)).toBeTruthy();
    expect(() => verify(fresh, before)).toThrow();
    expect(signaturesOf(during)).toHaveLength(2);
    for (const secret of [old, fresh]) expect(verify(secret, during)).toBeTruthy();
    expect(signaturesOf(after)).toHaveLength(1);
    expect(verify(fresh, after)).toBeTruthy();
    expect(() => verify(old, after)).toThrow();
  });

  test('a secret that was copied to another endpoint signs nothing there', async () => {
    const receiver = await scene.receiver();
    const [mine, other] = [await merchant.endpoint(receiver.url), await merchant.endpoint(`${receiver.url}/b`)];
    // With seals, so that nothing but the encryption is in the way.
    await scene.florin.admin.db.script(
      `update webhook_endpoints set secret = (select secret from webhook_endpoints where id = '${mine.id}') where id = '${other.id}'`,
    );
    await merchant.calls.made();
    await scene.untilDelivery(mine, ({ status }) => status === 'succeeded');
    const failed = await scene.untilDelivery(other, ({ failures }) => failures === 1);
    expect(await scene.attempts(failed.id)).toMatchObject([
      { statusCode: null, error: 'the signing secret could not be decrypted' },
    ]);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/']);
  });
});
