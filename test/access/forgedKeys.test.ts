import { beforeAll, describe, expect, test } from 'vitest';
import { operatorActing } from '../../src/engine/audit/acting.ts';
import { confirmRecords } from '../../src/engine/audit/confirmRecords.ts';
import { perform } from '../../src/engine/perform.ts';
import { revokeKey } from '../../src/storage/access/keys.ts';
import { listManagers, listPersonOnce } from '../../src/storage/access/mailReaders.ts';
import { ForgedRow } from '../../src/storage/seals.ts';
import { generateApiKey } from '../../src/vault/apiKeys.ts';
import { paymentCalls } from '../api/paymentCalls.ts';
import { png } from '../core/pictures.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount, TestFlorin } from '../support/florin.ts';
import { endKey, rotateKey } from '../support/operator.ts';
import { until } from '../support/until.ts';

let dashboard: TestDashboard;
let scene: TestFlorin;
beforeAll(async () => {
  dashboard = await startDashboard();
  scene = dashboard.scene;
});

const statusOf = async (key: string): Promise<number> =>
  (await scene.client.call('GET', '/v1/payments?limit=1', { key })).status;

/** Callers are cached for half a second. */
const soon = (key: string, wanted: number): Promise<number> =>
  until(
    () => statusOf(key),
    status => status === wanted,
  );

/** What the operator does after florin doctor has named the account. */
const confirm = (accountId: string): Promise<null> =>
  perform(scene.admin, operatorActing({ accountId, environment: null }), null, confirmRecords(scene.admin));

describe('an API key', () => {
  test.each([
    ['more rights', `scopes = array['payments:read', 'payments:write']`],
    ['other addresses', `ip_allow = array['127.0.0.0/8', '::1/128']::cidr[]`],
    ['a later end', `expires_at = now() + interval '1 year'`],
  ])('with %s is unknown, and others wait until the operator has looked', async (_, change) => {
    const account = await scene.account();
    const [forged, other] = [await scene.key(account.id, 'sandbox', ['payments:read']), account.keys.sandbox];
    await scene.tamper(`update api_keys set ${change} where id = '${forged.id}'`);
    expect([await statusOf(forged.key), await soon(other, 503)]).toEqual([401, 503]);
    await expect(rotateKey(scene.admin, forged.id, '0')).rejects.toMatchObject({ code: 'not_found' });
    await confirm(account.id);
    expect([await statusOf(forged.key), await soon(other, 200)]).toEqual([401, 200]);
  });

  test('with no seal is unknown, and others are not', async () => {
    const account = await scene.account();
    const { id, key } = await scene.key(account.id, 'sandbox');
    await scene.tamper(`update api_keys set row_seal = null where id = '${id}'`);
    expect([await statusOf(key), await statusOf(account.keys.sandbox)]).toEqual([401, 200]);
  });

  test('that was revoked stays that', async () => {
    const account = await scene.account();
    const { id, key } = await scene.key(account.id, 'sandbox');
    await endKey(scene.admin, id);
    await scene.tamper(`update api_keys set revoked_at = null where id = '${id}'`);
    expect(await statusOf(key)).toBe(401);
  });

  test('that was written by hand is unknown, also with the seal of another', async () => {
    const account = await scene.account();
    const real = await scene.key(account.id, 'sandbox');
    const write = async (seal: string): Promise<string> => {
      const { key, hash, hint } = generateApiKey('sandbox');
      const id = `key_${hash.toString('hex').slice(0, 26)}`;
      await scene.tamper(`insert into api_keys (account_id, environment, id, name, hash, hint, scopes, created_at, row_seal)
        select account_id, environment, '${id}', name, '\\x${hash.toString('hex')}', '${hint}', scopes, created_at, ${seal}
        from api_keys where id = '${real.id}'`);
      return key;
    };
    expect([await statusOf(await write('null')), await statusOf(await write('row_seal'))]).toEqual([401, 401]);
    expect(await soon(real.key, 503)).toBe(503);
    await confirm(account.id);
    expect(await soon(real.key, 200)).toBe(200);
  });

  test('that was revoked is in no register, and is unknown when its earlier row is put back', async () => {
    const account = await scene.account();
    const lines = async (): Promise<string[]> => {
      const text = 'select register from audit_heads where account_id = $1';
      const rows = await scene.admin.db.query<{ register: string }>({ name: '', text }, [account.id]);
      return rows[0]!.register.split('\n');
    };
    const before = await lines();
    const { id, key } = await scene.key(account.id, 'sandbox');
    await scene.tamper(`create table kept as select * from api_keys where id = '${id}'`);
    await endKey(scene.admin, id);
    expect(await lines()).toEqual(before);
    await scene.tamper(
      `delete from api_keys where id = '${id}'; insert into api_keys select * from kept; drop table kept`,
    );
    expect([await statusOf(key), await soon(account.keys.sandbox, 503)]).toEqual([503, 503]);
  });

  test('that was revoked stays that, whatever functions the owner of the tables adds', async () => {
    const account = await scene.account();
    const { id, key } = await scene.key(account.id, 'sandbox');
    await endKey(scene.admin, id);
    const said = (alias: string): string =>
      `pg_catalog.jsonb_strip_nulls(to_jsonb(${alias}) - '{row_seal}'::text[])::text`;
    await scene.tamper(`create table revoked as
        select ${said('k')} as text, null::text as forged, encode(row_seal, 'hex') as seal from api_keys k where id = '${id}';
      update api_keys set revoked_at = null where id = '${id}';
      update revoked set forged = (select ${said('k')} from api_keys k where id = '${id}')`);
    // They fit the arguments better than those of PostgreSQL, and answer with the row as it was. After the last statement,
    // prepared statements find them.
    await scene.tamper(`create function json_build_array(text, text, text) returns json language sql stable as
        $$ select pg_catalog.json_build_array($1, coalesce((select text from revoked where forged = $2), $2), $3) $$;
      create function convert_to(text, text) returns bytea language sql stable as
        $$ select pg_catalog.convert_to(coalesce((select text from revoked where forged = $1), $1), $2::name) $$;
      alter table api_keys alter name set statistics 50`);
    const status = await statusOf(key);
    await scene.tamper(`drop function json_build_array(text, text, text); drop function convert_to(text, text);
      drop table revoked`);
    expect(status).toBe(401);
  });

  test('that was moved to another account or environment opens neither', async () => {
    const [account, other] = [await scene.account(), await scene.account()];
    const [moved, lifted] = [await scene.key(account.id, 'sandbox'), await scene.key(account.id, 'sandbox')];
    await scene.tamper(`update api_keys set account_id = '${other.id}' where id = '${moved.id}';
      update api_keys set environment = 'production' where id = '${lifted.id}'`);
    expect([await statusOf(moved.key), await statusOf(lifted.key)]).toEqual([401, 401]);
  });

  test.each([
    ['a plan', (id: string) => `update accounts set rate_limit = 1 where id = '${id}'`],
    [
      'a tolerance',
      (id: string) =>
        `update account_settings set tolerance_bps = 500 where account_id = '${id}' and environment = 'sandbox'`,
    ],
  ])('does nothing for an account with %s that Florin did not set', async (_, change) => {
    const { id, keys } = await scene.account();
    await scene.tamper(change(id));
    expect(await statusOf(keys.sandbox)).toBe(401);
  });

  test('that somebody changed is not made right when Florin changes it', async () => {
    const account = await scene.account();
    const { id } = await scene.key(account.id, 'sandbox');
    await scene.tamper(`update api_keys set name = 'Forged' where id = '${id}'`);
    await expect(scene.admin.db.transaction(tx => revokeKey(tx, id))).rejects.toThrow(ForgedRow);
  });
});

describe('settings', () => {
  let owner: DashboardClient;
  let paymentId: string;
  const logo = { logo: `data:image/png;base64,${png(40, 40).toString('base64')}` };
  beforeAll(async () => {
    owner = await dashboard.as('owner');
    await owner.prove();
    await owner.do('PATCH /settings', { environment: 'sandbox', body: { branding: logo } });
    const own = { id: dashboard.accountId, keys: dashboard.keys } as TestAccount;
    paymentId = (await paymentCalls(scene, own).made()).id;
  });
  const get = (path: string) => scene.client.call('GET', `/checkout/${path}`);

  test('of which somebody changed the logo show none, and the page is served without it', async () => {
    const name = /assets\/(logo-[0-9a-f]{32}\.png)/.exec((await get(paymentId)).text)![1]!;
    await scene.tamper(`update account_settings set brand_logo = brand_logo || '\\x00' where brand_logo is not null`);
    expect((await get(`assets/${name}`)).status).toBe(404);
    const { branding } = await owner.do('GET /settings', { environment: 'sandbox' });
    expect(branding.logo).toBeNull();
    for (const each of [{ logo: null }, logo]) {
      await owner.do('PATCH /settings', { environment: 'sandbox', body: { branding: each } });
    }
    expect((await get(`assets/${name}`)).status).toBe(200);
  });

  test('that somebody changed are on no page, and are not changed further', async () => {
    expect((await get(paymentId)).status).toBe(200);
    await scene.tamper(`update account_settings set checkout_origins = array['https://evil.example']
      where account_id = '${dashboard.accountId}' and environment = 'sandbox'`);
    expect((await get(paymentId)).status).toBe(404);
    const answer = await owner.call('PATCH /settings', { environment: 'sandbox', body: { accountName: 'Shop' } });
    expect(answer.status).toBe(404);
  });
});

test('mails go to managers whom Florin made, and to whom they concern', async () => {
  const { id } = await scene.account();
  const [owner, viewer, gone] = [
    await dashboard.newPerson('owner', id),
    await dashboard.newPerson('viewer', id),
    await dashboard.newPerson('admin', id),
  ];
  const { db } = scene.admin;
  const read = async (concerned: string | null) =>
    (await listManagers(db, id, concerned)).map(({ email }) => email).toSorted();
  expect(await read(null)).toEqual([gone.email, owner.email].toSorted());
  expect(await read(owner.personId)).toEqual([gone.email, owner.email].toSorted());
  await scene.tamper(`update memberships set role = 'owner' where person_id = '${viewer.personId}';
    update people set email = 'evil@shop.example' where id = '${gone.personId}'`);
  expect(await read(null)).toEqual([owner.email]);
  expect(await read(viewer.personId)).toEqual([owner.email, viewer.email].toSorted());
  expect(await listPersonOnce(db, id, owner.personId)).toMatchObject([{ email: owner.email }]);
  const lower = `acct_${'0'.repeat(26)}`;
  await scene.tamper(`insert into accounts (id, name, plan) values ('${lower}', 'Forged', 'starter');
    insert into memberships (account_id, person_id, role) values ('${lower}', '${owner.personId}', 'owner')`);
  expect(await listPersonOnce(db, id, owner.personId)).toMatchObject([{ email: owner.email }]);
});
