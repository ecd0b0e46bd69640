import { beforeAll, describe, expect, test } from 'vitest';
import { dumpDatabase, hexOf } from '../support/dumpDatabase.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { expectError, expectInvalid } from './paymentCalls.ts';

const url = 'https://merchant.example/hooks';
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;
let scene: TestFlorin;
let account: TestAccount;
beforeAll(async () => {
  scene = await startTestFlorin();
  account = await scene.account();
});

const call = (method: string, path = '', body?: unknown, headers: Record<string, string> = {}, by = account) =>
  scene.client.call(method, `/v1/webhooks${path}`, { key: by.keys.sandbox, body, headers });
const made = async (fields: object = {}, by = account) => {
  const answer = await call('POST', '', { url, ...fields }, {}, by);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};

describe('creating', () => {
  test('with a url alone: the object has these fields and no others', async () => {
    const endpoint = await made();
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^we_[0-9a-hjkmnp-tv-z]{26}$/),
      url,
      events: ['*'],
      description: null,
      status: 'enabled',
      disabledReason: null,
      secret: expect.stringMatching(secretForm),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(Buffer.from(endpoint.secret.slice(6), 'base64')).toHaveLength(32);
  });

  test('with everything; each endpoint has a secret of its own', async () => {
    const fields = { events: ['payment.completed', 'webhook.test'], description: 'books ✓' };
    const [one, other] = [await made(fields), await made(fields)];
    expect(one).toMatchObject({ url, ...fields });
    expect(one.secret).not.toBe(other.secret);
    expect(one.id).not.toBe(other.id);
  });

  test('every documented kind can be subscribed to', async () => {
    const kinds = ['created', 'detected', 'underpaid', 'confirming', 'completed', 'overpaid', 'expired', 'late'];
    const more = ['canceled', 'reverted', 'reversed', 'stray'];
    const events = [...[...kinds, ...more].map(kind => `payment.${kind}`), 'webhook.test'];
    expect((await made({ events })).events).toEqual(events);
  });

  test.each([
    ['no url', {}, 'url'],
    ['a url that is no text', { url: 7 }, 'url'],
    ['a null url', { url: null }, 'url'],
    ['an unknown kind', { url, events: ['payment.paid'] }, 'events.0'],
    ['an unknown kind behind a good one', { url, events: ['payment.completed', 'x'] }, 'events.1'],
    ['no kinds', { url, events: [] }, 'events'],
    ['kinds that are no list', { url, events: '*' }, 'events'],
    ['a description of the wrong type', { url, description: 1 }, 'description'],
    ['a description that is too long', { url, description: 'x'.repeat(1_001) }, 'description'],
    ['a field nobody knows', { url, colour: 'red' }, 'colour'],
    ['a secret of the caller’s choice', { url, secret: 'whsec_x' }, 'secret'],
  ])('refuses %s', async (_name, body, param) => {
    const before = (await call('GET')).json.pagination.total;
    expectInvalid(await call('POST', '', body), param);
    expect((await call('GET')).json.pagination.total).toBe(before);
  });

  test('the same Idempotency-Key gets the same endpoint and secret again, another body 422', async () => {
    const headers = { 'idempotency-key': 'endpoint-1' };
    const first = await call('POST', '', { url }, headers);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    const second = await call('POST', '', { url }, headers);
    expect([second.status, second.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(second.text).toBe(first.text);
    expect(second.json.secret).toMatch(secretForm);
    expectError(await call('POST', '', { url, description: 'x' }, headers), 422, 'idempotency_mismatch');
  });
});

test('a secret is given at creation and rotation, and never again', async () => {
  const { secret, ...endpoint } = await made();
  expect((await call('GET', `/${endpoint.id}`)).json).toEqual(endpoint);
  const listed = (await call('GET')).json.data;
  expect(listed[0]).toEqual(endpoint);
  expect(listed.every((each: object) => !('secret' in each))).toBe(true);
  expect((await call('PATCH', `/${endpoint.id}`, { description: 'x' })).json).not.toHaveProperty('secret');

  const rotated = await call('POST', `/${endpoint.id}/rotate`);
  expect(rotated.json).toEqual({ ...endpoint, description: 'x', secret: expect.stringMatching(secretForm) });
  expect(rotated.json.secret).not.toBe(secret);
  expect((await call('GET', `/${endpoint.id}`)).text).not.toContain('whsec_');
});

test('a rotation under an Idempotency-Key happens once', async () => {
  const { id, secret } = await made();
  const headers = { 'idempotency-key': 'rotate-1' };
  const first = await call('POST', `/${id}/rotate`, undefined, headers);
  const second = await call('POST', `/${id}/rotate`, undefined, headers);
  expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
  expect(first.json.secret).not.toBe(secret);
});

test('no secret is anywhere in the database in clear, kept answers included', async () => {
  const one = (await call('POST', '', { url }, { 'idempotency-key': 'clear-1' })).json;
  const two = (await call('POST', `/${one.id}/rotate`, undefined, { 'idempotency-key': 'clear-2' })).json;
  const dump = await dumpDatabase(scene.admin.db);
  expect(dump).toContain(one.id);
  for (const secret of [one.secret, two.secret]) {
    const text = secret.slice('whsec_'.length);
    const forms = { text, hexOfText: hexOf(text), bytes: hexOf(Buffer.from(text, 'base64')) };
    const found = Object.entries(forms).filter(([, form]) => dump.includes(form.slice(0, 24)));
    expect(found.map(([name]) => name)).toEqual([]);
  }
});

describe('changing', () => {
  test('only what is named, and the answer is the whole object', async () => {
    const { secret: _, ...endpoint } = await made({ description: 'a', events: ['payment.created'] });
    const path = `/${endpoint.id}`;
    const next = { ...endpoint, url: 'https://other.example/x' };
    expect((await call('PATCH', path, { url: next.url })).json).toEqual(next);
    expect((await call('PATCH', path, { events: ['*'] })).json).toEqual({ ...next, events: ['*'] });
    expect((await call('PATCH', path, { description: null })).json).toMatchObject({ description: null, url: next.url });
    expect((await call('GET', path)).json).toEqual({ ...next, events: ['*'], description: null });
  });

  test('disabling says why, enabling forgets it', async () => {
    const { id } = await made();
    const off = (await call('PATCH', `/${id}`, { status: 'disabled' })).json;
    expect(off).toMatchObject({ status: 'disabled', disabledReason: expect.stringMatching(/\S/) });
    const on = (await call('PATCH', `/${id}`, { status: 'enabled' })).json;
    expect(on).toMatchObject({ status: 'enabled', disabledReason: null });
  });

  test.each([
    ['nothing', {}, undefined],
    ['a bad url', { url: 'ftp://merchant.example' }, 'url'],
    ['an unknown kind', { events: ['x'] }, 'events.0'],
    ['an unknown status', { status: 'paused' }, 'status'],
    ['the id', { id: 'we_1' }, 'id'],
    ['the secret', { secret: 'whsec_x' }, 'secret'],
    ['a null url', { url: null }, 'url'],
  ])('refuses %s and changes nothing', async (_name, body, param) => {
    const { secret: _, ...endpoint } = await made();
    expectInvalid(await call('PATCH', `/${endpoint.id}`, body), param);
    expect((await call('GET', `/${endpoint.id}`)).json).toEqual(endpoint);
  });
});

describe('the number of endpoints', () => {
  const attempt = (by: TestAccount, environment: 'sandbox' | 'production' = 'sandbox') =>
    scene.client.call('POST', '/v1/webhooks', { key: by.keys[environment], environment, body: { url } });

  test('is fifty an account and environment, also for those who ask at the same time', async () => {
    const owner = await scene.account();
    const ids: string[] = [];
    for (let i = 0; i < 45; i++) ids.push((await made({}, owner)).id);
    const answers = await Promise.all(Array.from({ length: 12 }, () => attempt(owner)));
    expect(answers.filter(answer => answer.status === 200)).toHaveLength(5);
    const refused = answers.filter(answer => answer.status !== 200);
    for (const answer of refused) {
      expectError(answer, 409, 'conflict');
      expect(answer.json.error.message).toContain('50 webhook endpoints');
    }
    expect((await call('GET', '', undefined, {}, owner)).json.pagination.total).toBe(50);

    expect((await attempt(owner, 'production')).status).toBe(200);
    expect((await attempt(account)).status).toBe(200);

    await call('DELETE', `/${ids[0]}`, undefined, {}, owner);
    expect((await attempt(owner)).status).toBe(200);
    expectError(await attempt(owner), 409, 'conflict');
  });
});

test('a deleted endpoint is gone from everywhere', async () => {
  const { id } = await made();
  const before = (await call('GET')).json.pagination.total;
  const deleted = await call('DELETE', `/${id}`);
  expect([deleted.status, deleted.json]).toEqual([200, { id, deleted: true }]);
  const listed = (await call('GET', '?limit=100')).json;
  expect(listed.pagination.total).toBe(before - 1);
  expect(listed.data.map((each: { id: string }) => each.id)).not.toContain(id);
  const after: [string, string, unknown?][] = [
    ['GET', ''],
    ['PATCH', '', { description: 'x' }],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
  ];
  for (const [method, path, body] of after) expectError(await call(method, `/${id}${path}`, body), 404, 'not_found');
});

test.each(['we_none', `we_${'0'.repeat(26)}`, `pay_${'0'.repeat(26)}`, '%00', 'x'.repeat(150)])(
  'an id that nobody has is 404: %s',
  async id => expectError(await call('GET', `/${id}`), 404, 'not_found'),
);

describe('listing', () => {
  test('newest first, 20 at a time unless said otherwise, with an exact total', async () => {
    const lister = await scene.account();
    expect((await call('GET', '', undefined, {}, lister)).json).toEqual({
      data: [],
      pagination: { total: 0, limit: 20, offset: 0, hasMore: false },
    });
    const ids: string[] = [];
    for (let i = 0; i < 23; i++) ids.unshift((await made({}, lister)).id);
    const page = async (query: string) => {
      const { data, pagination } = (await call('GET', query, undefined, {}, lister)).json;
      return { ids: data.map((each: { id: string }) => each.id), pagination };
    };
    expect(await page('')).toEqual({
      ids: ids.slice(0, 20),
      pagination: { total: 23, limit: 20, offset: 0, hasMore: true },
    });
    expect(await page('?offset=20')).toEqual({
      ids: ids.slice(20),
      pagination: { total: 23, limit: 20, offset: 20, hasMore: false },
    });
    expect(await page('?limit=3&offset=20')).toMatchObject({ ids: ids.slice(20), pagination: { hasMore: false } });
    expect(await page('?limit=100')).toMatchObject({ ids, pagination: { limit: 100, hasMore: false } });
    expect(await page('?offset=99')).toMatchObject({ ids: [], pagination: { total: 23, hasMore: false } });
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=0.5', 'offset'],
    ['status=enabled', 'status'],
  ])('refuses ?%s', async (query, param) => expectInvalid(await call('GET', `?${query}`), param));
});
