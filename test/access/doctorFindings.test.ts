import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { examineAuditLogs, examineRecords, examineSeals, verified } from '../../src/cli/doctorChecks.ts';
import { silentLog } from '../../src/core/log.ts';
import { putDashboardUrl, readDashboardUrl } from '../../src/engine/access/dashboardUrl.ts';
import { verifyRegisters } from '../../src/engine/audit/register.ts';
import { sealOlderRows } from '../../src/engine/seals/sealOlderRows.ts';
import { insertConfirmation, isConfirmed } from '../../src/storage/wallets/wallets.ts';
import { paymentCalls } from '../api/paymentCalls.ts';
import { createAuthenticator } from '../support/authenticator.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount, TestFlorin } from '../support/florin.ts';

let dashboard: TestDashboard;
let scene: TestFlorin;
let account: TestAccount;
beforeAll(async () => {
  dashboard = await startDashboard();
  scene = dashboard.scene;
  account = await scene.account();
  await sealOlderRows({ ...scene.admin, log: silentLog }, false);
});

const sealProblems = async (): Promise<string[]> => (await examineSeals(scene.config, scene.admin)).problems;
/** As somebody can who turns triggers and foreign keys off. */
const unguarded = (sql: string): Promise<void> =>
  scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);

test('what no data directory remembers is said not to be compared', async () => {
  await dashboard.as('owner');
  const told = async (dataDir: string) => {
    const config = { ...scene.config, dataDir };
    return [
      verified(await examineAuditLogs(config, scene.admin), 'rows').detail,
      verified(await examineSeals(config, scene.admin), 'rows').detail,
    ];
  };
  const notCompared = [
    expect.stringMatching(/^\d+ rows verified; not compared with earlier ends: none are known here$/),
    expect.stringMatching(/; people not compared with earlier rows: none are known here$/),
  ];
  const empty = await mkdtemp(join(scene.config.dataDir, 'other-'));
  expect(await told(join(empty, 'none'))).toEqual(notCompared);
  expect(await told(empty)).toEqual(notCompared);
  expect((await told(empty)).join()).not.toContain('not compared');
});

test('an earlier row of a person that was put back is found, and stays found', async () => {
  const person = await dashboard.newPerson('viewer');
  await person.prove();
  await scene.tamper(`create table kept as select * from people where id = '${person.personId}'`);
  await person.do('POST /me/password', { body: { password: 'a new quiet river' } });
  expect(await sealProblems()).toEqual([]);
  await unguarded(
    `delete from people where id = '${person.personId}'; insert into people select * from kept; drop table kept`,
  );
  const problem = `person ${person.personId}: an earlier row, with an earlier password or sign-in, was put back`;
  expect(await sealProblems()).toEqual([problem]);
  expect(await sealProblems()).toEqual([problem]);
  await unguarded(`update people set revision = revision + 100 where id = '${person.personId}'`);
  expect(await sealProblems()).toEqual([`people ${person.personId} was changed in the database`]);
  // What a forged row says is not remembered.
  await unguarded(`update people set revision = revision - 100 where id = '${person.personId}'`);
  expect(await sealProblems()).toEqual([problem]);
  await unguarded(`create table kept as select * from people where id = '${person.personId}';
    delete from people where id = '${person.personId}'`);
  expect(await sealProblems()).toEqual([`person ${person.personId}: their row is gone`]);
  await unguarded('insert into people select * from kept; drop table kept');
});

test('a passkey that was removed from the database is found', async () => {
  const before = await sealProblems();
  const person = await dashboard.newPerson('viewer');
  await person.prove();
  const response = createAuthenticator(dashboard.url).register(await person.do('POST /me/passkeys/options'));
  await person.do('POST /me/passkeys', { body: { name: 'Phone', response } });
  expect(await sealProblems()).toEqual(before);
  await scene.tamper(`delete from passkeys where person_id = '${person.personId}'`);
  expect(await sealProblems()).toContain(`1 passkeys of ${person.personId} were removed from the database`);
});

test('links for a new password lead to the dashboard only, whatever address is in the database', async () => {
  const { admin } = scene;
  const before = await readDashboardUrl(admin);
  expect(before).toMatch(/^https:/);
  await scene.tamper(
    `update deployment set value = replace(value, 'https://', 'https://evil.') where name = 'dashboard_url'`,
  );
  expect(await readDashboardUrl(admin)).toBeNull();
  expect(await sealProblems()).toContain('the address of the dashboard was changed in the database: restart Florin');
  await scene.tamper(`update deployment set value = 'https://evil.example' where name = 'dashboard_url'`);
  expect(await readDashboardUrl(admin)).toBeNull();
  await putDashboardUrl(admin, before!);
});

test('another register at the end of an audit log is found', async () => {
  const found = async () => (await verifyRegisters(scene.admin)).problems;
  expect(await found()).toEqual([]);
  await scene.tamper(`update audit_heads set register = register || 'x' where account_id = '${account.id}'`);
  expect(await found()).toEqual([expect.stringContaining(account.id)]);
});

test('a contract at a treasury is confirmed by Florin only', async () => {
  const { id } = await scene.account();
  const scope = { accountId: id, environment: 'sandbox' } as const;
  const contract = { network: 'base', treasury: `0x${'1'.repeat(40)}`, codeHash: 'a'.repeat(64) };
  const { admin } = scene;
  await scene.tamper(`insert into treasury_confirmations (account_id, environment, network, treasury, code_hash, confirmed_by)
    values ('${id}', 'sandbox', 'base', '${contract.treasury}', '${'b'.repeat(64)}', 'Nobody')`);
  expect(await isConfirmed(admin.db, scope, { ...contract, codeHash: 'b'.repeat(64) })).toBe(false);
  await admin.db.transaction(tx => insertConfirmation(tx, scope, { ...contract, by: 'Ada' }));
  expect(await isConfirmed(admin.db, scope, contract)).toBe(true);
  await scene.tamper(`update treasury_confirmations set network = 'polygon' where code_hash = '${contract.codeHash}'`);
  expect(await isConfirmed(admin.db, scope, { ...contract, network: 'polygon' })).toBe(false);
});

describe('with --deep', () => {
  const make = async (): Promise<string> =>
    (await paymentCalls(scene, account).made({ callbackUrl: 'https://shop.example/hook' })).id;

  test.each([
    [
      'payment',
      (id: string) => `delete from payments where id = '${id}'`,
      /events have no row in payments.*were counted, and there are/,
    ],
    ['event', (id: string) => `delete from events where payment_id = '${id}'`, /has 0 of its 1 events/],
    [
      'end of a history',
      (id: string) => `insert into events select (jsonb_populate_record(e, '{"sequence": 2, "type": "payment.expired",
          "status": "expired", "previous_status": "pending"}' || jsonb_build_object('id', left(id, -1) || '_'))).*
        from events e where payment_id = '${id}'`,
      /has 2 of its 1 events/,
    ],
    [
      'delivery of another event',
      (id: string) =>
        `update deliveries d set event_id = 'evt_other' from events e where e.payment_id = '${id}' and d.event_id = e.id`,
      /have no row in events.*have another id/,
    ],
  ])('a missing %s is found', async (_, change, problem) => {
    const id = await make();
    await scene.tamper(
      'create table kept_payments as table payments; create table kept_events as table events; create table kept_deliveries as table deliveries',
    );
    expect((await examineRecords(scene.admin.db)).detail).toBe('nothing is missing');
    await unguarded(change(id));
    expect((await examineRecords(scene.admin.db)).detail).toMatch(problem);
    await unguarded(`delete from payments; delete from events; delete from deliveries;
      insert into payments select * from kept_payments; insert into events select * from kept_events;
      insert into deliveries select * from kept_deliveries; drop table kept_payments, kept_events, kept_deliveries`);
  });
});

test('a column that is added to a sealed table is covered by itself', async () => {
  const [mine, theirs] = [await scene.account(), await scene.account()];
  await scene.tamper('alter table api_keys add column added_later text');
  await scene.tamper(`update api_keys set added_later = 'forged' where account_id = '${theirs.id}'`);
  const statuses = [mine, theirs].map(
    async ({ keys }) => (await scene.client.call('GET', '/v1/payments?limit=1', { key: keys.sandbox })).status,
  );
  expect(await Promise.all(statuses)).toEqual([200, 401]);
});
