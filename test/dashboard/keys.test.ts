import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { grantable } from '../../src/core/access/rights.ts';
import type { Log } from '../../src/core/log.ts';
import { createKeyUses } from '../../src/engine/access/keyUses.ts';
import type { Caller } from '../../src/storage/access/accounts.ts';
import { expectError, expectInvalid, ordinary } from '../api/paymentCalls.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { until } from '../support/until.ts';
import { auditRows } from './auditRows.ts';

const lines: string[] = [];
const keep = (fields: object, message: string): void => void lines.push(JSON.stringify({ ...fields, message }));
const log: Log = { debug: keep, info: keep, warn: keep, error: keep };

let dashboard: TestDashboard;
let developer: DashboardClient;
beforeAll(async () => {
  dashboard = await startDashboard({ log });
  developer = await dashboard.as('developer');
});
beforeEach(() => developer.prove());

const create = (body: object = {}) =>
  developer.call('POST /keys', { body: { name: 'Shop', scopes: grantable('developer'), ...body } });
const made = async (body: object = {}) => {
  const answer = await create(body);
  expect(answer.status, answer.text).toBe(200);
  return answer.json;
};
const pay = (key: string) => dashboard.scene.client.call('POST', '/v1/payments', { key, body: ordinary });
const listed = async (id: string) => (await developer.do('GET /keys')).data.find(key => key.id === id)!;
const auditOf = async (subject: string) =>
  (await auditRows(dashboard.scene, dashboard.accountId)).filter(row => row.subject === subject);

/** Polls, because keys are cached for half a second. */
const refused = (key: string) =>
  until(
    () => pay(key),
    answer => answer.status === 401,
  );

describe('a key', () => {
  test('is shown once, and pays at the API', async () => {
    const { key, ...shown } = await made({ name: '  Shop  ', scopes: ['payments:write', 'payments:write'] });
    expect(shown).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'Shop',
      hint: `sk_test_…${key.slice(-4)}`,
      scopes: ['payments:write'],
      ipAllow: null,
      createdAt: expect.any(String),
      expiresAt: null,
      revokedAt: null,
      successorId: null,
      lastUsedAt: null,
      status: 'active',
    });
    expect((await pay(key)).status).toBe(200);
    const list = await developer.call('GET /keys');
    expect(list.text).not.toContain(key);
    expect(await listed(shown.id)).toEqual({ ...shown, lastUsedAt: expect.any(String) });
    expect(await auditOf(shown.id)).toEqual([
      expect.objectContaining({
        action: 'key.created',
        environment: 'sandbox',
        actor: 'Developer 2 <developer2@example.com>',
      }),
    ]);
    const everything = JSON.stringify([await auditRows(dashboard.scene, dashboard.accountId), lines]);
    expect(everything).toContain(shown.hint);
    expect(everything).not.toContain(key);
    expect(everything).not.toContain(key.slice(8, 30));
  });

  test('of production is not among those of the sandbox', async () => {
    const live = await developer.do('POST /keys', {
      environment: 'production',
      body: { name: 'Live', scopes: ['payments:read'] },
    });
    expect(live.key).toMatch(/^sk_live_/);
    expect(await listed(live.id)).toBe(undefined);
    const { data } = await developer.do('GET /keys', { environment: 'production' });
    expect(data.map(key => key.id)).toContain(live.id);
    for (const call of ['POST /keys/:id/revoke', 'POST /keys/:id/rotate'] as const) {
      const body = call.endsWith('rotate') ? { body: { overlap: '0' } } : {};
      expectError(await developer.call(call, { params: { id: live.id }, ...body }), 404, 'not_found');
    }
  });

  test('of another account is not there', async () => {
    const other = await dashboard.scene.account();
    const params = { id: other.keyIds.sandbox };
    expectError(await developer.call('POST /keys/:id/revoke', { params }), 404, 'not_found');
    expectError(await developer.call('POST /keys/:id/rotate', { params, body: { overlap: '1h' } }), 404, 'not_found');
    expect((await pay(other.keys.sandbox)).status).toBe(200);
  });

  test('tells when it was last used, the latest use winning', async () => {
    const { id, key } = await made();
    expect((await listed(id)).lastUsedAt).toBe(null);
    await pay(key);
    const first = (await listed(id)).lastUsedAt!;
    await until(
      async () => {
        await pay(key);
        return (await listed(id)).lastUsedAt!;
      },
      latest => latest > first,
    );
    await dashboard.scene.admin.db.script(
      `update key_uses set last_used_at = '2100-01-01T00:00:00Z' where key_id = '${id}'`,
    );
    await pay(key);
    expect((await listed(id)).lastUsedAt).toBe('2100-01-01T00:00:00.000Z');
  });

  test('keeps to its addresses, as written down in the usual form', async () => {
    const { key, ipAllow } = await made({ ipAllow: ['10.1.2.0/24', '10.1.2.0/24'] });
    expect(ipAllow).toEqual(['10.1.2.0/24']);
    expectError(await pay(key), 403, 'permission_denied');
    const here = await made({ ipAllow: ['127.0.0.1', '::1'] });
    expect((await pay(here.key)).status).toBe(200);
  });

  test('ends by itself', async () => {
    const { id, key } = await made({ expiresAt: new Date(Date.now() + 3_600_000).toISOString() });
    expect((await pay(key)).status).toBe(200);
    await dashboard.scene.admin.db.script(`update api_keys set expires_at = clock_timestamp() where id = '${id}'`);
    await refused(key);
    expect((await listed(id)).status).toBe('expired');
    const again = await developer.call('POST /keys/:id/rotate', { params: { id }, body: { overlap: '1h' } });
    expectError(again, 409, 'conflict');
  });
});

describe('rotating', () => {
  test('lets the old key work through its overlap, and not after', async () => {
    const old = await made({ name: 'Till' });
    const body = { overlap: '24h' } as const;
    const next = await developer.do('POST /keys/:id/rotate', { params: { id: old.id }, body });
    expect(next).toMatchObject({ name: 'Till', scopes: old.scopes, status: 'active' });
    expect(next.key).not.toBe(old.key);
    expect(await listed(old.id)).toMatchObject({ status: 'rotating', successorId: next.id });
    for (const key of [old.key, next.key]) expect((await pay(key)).status).toBe(200);

    await dashboard.scene.admin.db.script(
      `update api_keys set expires_at = expires_at - interval '24 hours' where id = '${old.id}'`,
    );
    await refused(old.key);
    expect((await pay(next.key)).status).toBe(200);
    expect(await auditOf(old.id)).toEqual([
      expect.objectContaining({ action: 'key.created' }),
      expect.objectContaining({ action: 'key.rotated', detail: expect.objectContaining({ overlap: '24h' }) }),
    ]);
  });

  test('without an overlap ends the old key at once', async () => {
    const old = await made();
    await developer.do('POST /keys/:id/rotate', { params: { id: old.id }, body: { overlap: '0' } });
    await refused(old.key);
    const again = await developer.call('POST /keys/:id/rotate', { params: { id: old.id }, body: { overlap: '0' } });
    expectError(again, 409, 'conflict');
  });
});

test('a use that cannot be written down keeps no other from it, nor keys from being shown', async () => {
  const { id, key } = await made();
  const { db, clock } = dashboard.scene.admin;
  const uses = createKeyUses(db, clock.nowMs);
  const scope = { accountId: dashboard.accountId, environment: 'sandbox' as const };
  const caller = (keyId: string) => ({ ...scope, keyId }) as Caller;
  uses.note(caller(`key_${'0'.repeat(26)}`));
  uses.note(caller(id));
  await uses.flush();
  const { lastUsedAt } = await listed(id);
  expect(lastUsedAt).not.toBe(null);
  await db.script('alter table key_uses add constraint test_refused check (false) not valid');
  await pay(key);
  expect((await listed(id)).lastUsedAt).toBe(lastUsedAt);
  await db.script('alter table key_uses drop constraint test_refused');
  expect((await listed(id)).lastUsedAt! > lastUsedAt!).toBe(true);
});

test('a revoked key is refused, and revoking it again changes nothing', async () => {
  const { id, key } = await made();
  expect((await pay(key)).status).toBe(200);
  const revoked = await developer.do('POST /keys/:id/revoke', { params: { id } });
  expect(revoked.status).toBe('revoked');
  await refused(key);
  expect(await developer.do('POST /keys/:id/revoke', { params: { id } })).toEqual(revoked);
  expect((await auditOf(id)).map(row => row.action)).toEqual(['key.created', 'key.revoked']);
});

describe('is refused', () => {
  test.each([
    ['name', { name: '   ' }],
    ['name', { name: 'x'.repeat(201) }],
    ['scopes', { scopes: [] }],
    ['ipAllow', { ipAllow: ['10.0.0.0/33'] }],
    ['expiresAt', { expiresAt: '2020-01-01T00:00:00Z' }],
    ['expiresAt', { expiresAt: 'tomorrow' }],
  ])('a key whose %s is %o', async (param, body) => {
    const before = (await developer.do('GET /keys')).data.length;
    expectInvalid(await create(body), param);
    expect((await developer.do('GET /keys')).data).toHaveLength(before);
  });

  test('every change without a fresh proof', async () => {
    const { id } = await made();
    await developer.unprove();
    expectError(await create(), 403, 'permission_denied', 'proof');
    expectError(await developer.call('POST /keys/:id/revoke', { params: { id } }), 403, 'permission_denied', 'proof');
    const rotation = { params: { id }, body: { overlap: '0' } } as const;
    expectError(await developer.call('POST /keys/:id/rotate', rotation), 403, 'permission_denied', 'proof');
    expect((await listed(id)).status).toBe('active');
  });
});

test('uses that were not written down yet are written when Florin stops', async () => {
  const second = await startDashboard();
  const { keys } = second;
  const { db } = second.scene.admin;
  await second.scene.client.call('GET', '/v1/payments', { key: keys.sandbox });
  await second.scene.florin.stop();
  const used = await db.query({ name: 'test-uses', text: 'select environment from key_uses' });
  expect(used).toEqual([{ environment: 'sandbox' }]);
});
