import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { attributeOf, type CheckoutScene, noticePage, startCheckoutScene, tokenOf } from './checkoutScene.ts';

let scene: CheckoutScene;
beforeAll(async () => {
  scene = await startCheckoutScene();
});

const tokenFor = async (id: string): Promise<string> => tokenOf((await scene.get(id)).text)!;
const reached = (id: string, isWanted: (payment: Answer['json']) => boolean) =>
  until(async () => (await scene.calls.read(id)).json, isWanted);
const untouched = async (payment: Answer['json']): Promise<void> =>
  expect((await scene.calls.read(payment.id)).json).toEqual(payment);

describe('the panel of a page', () => {
  test.each([
    ['paid', { status: 'completed', exception: null }],
    ['overpaid', { status: 'completed', exception: 'overpaid' }],
    ['late', { status: 'completed', exception: 'late' }],
    ['underpaid', { status: 'pending', exception: 'underpaid' }],
  ])('%s', async (outcome, expected) => {
    const { id } = await scene.calls.made();
    const answer = await scene.post(id, { token: await tokenFor(id), outcome });
    expect([answer.status, answer.headers.location, answer.text]).toEqual([303, `../${id}`, '']);
    expect(answer.headers['cache-control']).toBe('no-store');
    const { status, exception } = expected;
    await reached(id, payment => payment.status === status && payment.exception === exception);
  });

  test('wrong_token', async () => {
    const { id } = await scene.calls.made();
    expect((await scene.post(id, { token: await tokenFor(id), outcome: 'wrong_token' })).status).toBe(303);
    expect(await reached(id, payment => payment.strays.length > 0)).toMatchObject({ status: 'pending' });
  });

  test('leads back to where it was, in its language', async () => {
    const { id } = await scene.calls.made();
    const token = await tokenFor(id);
    const answer = await scene.florin.client.call('POST', `/checkout/${id}/simulate?lang=de`, {
      body: new URLSearchParams({ token, outcome: 'underpaid' }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
    });
    const from = new URL(`https://pay.example/shop/pay/${id}/simulate`);
    expect(new URL(answer.headers.location!, from).href).toBe(`https://pay.example/shop/pay/${id}?lang=de`);
  });

  test('has the same token on every page of a payment, and another for each payment', async () => {
    const [first, second] = [await scene.calls.made(), await scene.calls.made()];
    const tokens = [await tokenFor(first.id), await tokenFor(first.id), await tokenFor(second.id)];
    expect(tokens[0]).toMatch(/^[\w-]{43}$/);
    expect([tokens[1] === tokens[0], tokens[2] === tokens[0]]).toEqual([true, false]);
  });
});

describe('is refused', () => {
  const refused = async (answer: Promise<Answer>, status: number): Promise<void> => {
    const { status: got, text, headers } = await answer;
    expect([got, text]).toEqual([status, noticePage(status === 404 ? 'unknown' : 'unavailable')]);
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  };

  test('with a token that is another payment’s, changed, shortened or none', async () => {
    const [payment, other] = [await scene.calls.made(), await scene.calls.made()];
    const [token, foreign] = [await tokenFor(payment.id), await tokenFor(other.id)];
    const flipped = `${token[0] === 'A' ? 'B' : 'A'}${token.slice(1)}`;
    for (const wrong of [foreign, flipped, token.slice(1), `${token}=`, ` ${token}`, '', 'ü', payment.id])
      await refused(scene.post(payment.id, { token: wrong, outcome: 'paid' }), 403);
    await untouched(payment);
  });

  test('for ids that nothing has, and in production', async () => {
    const payment = await scene.calls.made();
    const form = { token: await tokenFor(payment.id), outcome: 'paid' };
    await refused(scene.post(`pay_${'0'.repeat(26)}`, form), 404);
    await refused(scene.post('pay_x', form), 404);
    await refused(scene.post(payment.id, form, { environment: 'production' }), 404);
    await untouched(payment);
  });

  test('for what a payer cannot bring about, and forms that are none', async () => {
    const payment = await scene.calls.made();
    const token = await tokenFor(payment.id);
    const post = (form: string) => scene.post(payment.id, form);
    for (const outcome of ['reorg', 'stolen', '', 'PAID'])
      await refused(scene.post(payment.id, { token, outcome }), 400);
    for (const form of [
      `token=${token}`,
      'outcome=paid',
      `token=${token}&token=${token}&outcome=paid`,
      `token=${token}&outcome=paid&amount=1`,
      `token=${token}&outcome=paid&__proto__=1`,
      '',
      '%ff=%fe',
    ])
      await refused(post(form), 400);
    await refused(post(`token=${token}&outcome=paid&${'x'.repeat(70_000)}`), 413);
    await untouched(payment);
  });

  test('in any other form than a browser’s', async () => {
    const payment = await scene.calls.made();
    const form = { token: await tokenFor(payment.id), outcome: 'paid' };
    const path = `/checkout/${payment.id}/simulate`;
    await refused(scene.florin.client.call('POST', path, { body: form }), 415);
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded; charset=latin1',
    ])
      await refused(scene.post(payment.id, form, { headers: { 'content-type': type } }), 415);
    await refused(scene.post(payment.id, form, { headers: { 'content-encoding': 'gzip' } }), 415);
    await refused(scene.florin.client.call('POST', path), 400);
    await untouched(payment);
  });

  test('and a form is refused by the API', async () => {
    const answer = await scene.florin.client.call('POST', '/v1/payments', {
      key: scene.account.keys.sandbox,
      body: 'amount=1&currency=USDC&network=base',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([answer.status, answer.json.error.code]).toEqual([415, 'unsupported_media_type']);
  });
});

test('an error in place of the page leads back to it when it is loaded again', async () => {
  const { id } = await scene.calls.made();
  const refused = await scene.post(id, { token: 'wrong', outcome: 'paid' });
  expect(refused.text).toMatch(/http-equiv="refresh" content="\d+"/);
  const load = (path: string, method = 'GET') => scene.florin.client.call(method, `/checkout/${path}`);
  for (const method of ['GET', 'HEAD']) {
    const answer = await load(`${id}/simulate?lang=de`, method);
    expect([answer.status, answer.headers.location, answer.text]).toEqual([303, `../${id}?lang=de`, '']);
  }
  expect((await load(`${id}/simulate`)).headers.location).toBe(`../${id}`);
  for (const odd of ['pay_x', '%2f%2fevil.example', 'a%0d%0ab', `${id}%3f`])
    expect([(await load(`${odd}/simulate`)).status, odd]).toEqual([404, odd]);
  expect((await load(`${id}/simulate`, 'PUT')).headers.allow).toBe('POST, GET, HEAD');
});

test('a payer’s page tells of what was sent', async () => {
  const { id } = await scene.calls.made();
  await scene.post(id, { token: await tokenFor(id), outcome: 'paid' });
  const { transactions } = await reached(id, payment => payment.status === 'completed');
  const { text } = await scene.get(id);
  expect(attributeOf(text, 'data-state')).toBe('completed');
  expect(text).toContain(transactions[0].hash);
});
