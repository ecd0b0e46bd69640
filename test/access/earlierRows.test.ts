import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { forgetPeople, keepPersonRevisions } from '../../src/cli/personRevisionsFile.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { createRecoveryLink } from '../../src/engine/access/recovery.ts';
import { removePerson } from '../../src/engine/access/removePerson.ts';
import { verifyRegisters } from '../../src/engine/audit/register.ts';
import { findPersonByEmail, updatePersonName } from '../../src/storage/access/people.ts';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import type { TestFlorin } from '../support/florin.ts';
import { endKey } from '../support/operator.ts';
import { until } from '../support/until.ts';

let dashboard: TestDashboard;
let scene: TestFlorin;
/** What the log of the server says of forged records. */
const forged: { row: object; message: string }[] = [];
const log: Log = {
  ...silentLog,
  error(fields, message) {
    if ('forged' in fields) forged.push({ row: (fields as unknown as { row: object }).row, message });
  },
};
beforeAll(async () => {
  dashboard = await startDashboard({ log });
  scene = dashboard.scene;
});
// Otherwise the address of all these tests would have to wait.
beforeEach(() => scene.admin.db.script('delete from sign_in_failures'));

/** As the owner of the tables can, who turns triggers and foreign keys off. */
const unguarded = (sql: string): Promise<void> =>
  scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);

/** Another process, which has seen nothing but the data directory. */
const newProcess = async () => {
  const storage = await openStorage(scene.config, silentLog);
  atEndOfFile(storage.stop);
  return openAdmin(scene.config, storage);
};

describe('an earlier end of an audit log', () => {
  const statusOf = async (key: string): Promise<number> =>
    (await scene.client.call('GET', '/v1/payments?limit=1', { key })).status;
  /** Callers are cached for half a second. */
  const soon = (key: string, wanted: number): Promise<number> =>
    until(
      () => statusOf(key),
      status => status === wanted,
    );
  const isFound = async (accountId: string): Promise<boolean> =>
    (await verifyRegisters(await newProcess())).problems.some(problem => problem.includes(accountId));
  /** An account with a key that was revoked, and what puts the key and the end of the log back as they were. */
  const withRevokedKey = async () => {
    const account = await scene.account();
    const { id, key } = await scene.key(account.id, 'sandbox');
    expect(await statusOf(key)).toBe(200);
    await scene.tamper(`create table key_${id} as select * from api_keys where id = '${id}';
      create table head_${id} as select * from audit_heads where account_id = '${account.id}'`);
    await endKey(scene.admin, id);
    expect([await soon(key, 401), await statusOf(account.keys.sandbox)]).toEqual([401, 200]);
    const putBack = () =>
      unguarded(`delete from api_keys where id = '${id}'; insert into api_keys table key_${id};
        delete from audit_heads where account_id = '${account.id}'; insert into audit_heads table head_${id}`);
    const cut = () =>
      unguarded(`delete from audit_log l using head_${id} h
        where l.account_id = h.account_id and l.sequence > h.sequence`);
    return { account, key, putBack, cut };
  };

  test('is not believed beside newer rows of the log', async () => {
    const { account, key, putBack } = await withRevokedKey();
    await putBack();
    expect([await soon(account.keys.sandbox, 503), await statusOf(key)]).toEqual([503, 503]);
    expect(await isFound(account.id)).toBe(true);
  });

  test('is not believed by a process that has seen a later one, also without the newer rows', async () => {
    const { account, key, putBack, cut } = await withRevokedKey();
    await putBack();
    await cut();
    expect([await soon(account.keys.sandbox, 503), await statusOf(key)]).toEqual([503, 503]);
    // Only what is outside of the database could tell another process.
    expect(await isFound(account.id)).toBe(false);
  });

  test('of another account is not believed', async () => {
    const [mine, theirs] = [await scene.account(), await scene.account()];
    await unguarded(`update audit_heads set account_id = 'kept' where account_id = '${theirs.id}';
      update audit_heads set account_id = '${theirs.id}' where account_id = '${mine.id}';
      update audit_heads set account_id = '${mine.id}' where account_id = 'kept'`);
    expect([await soon(mine.keys.sandbox, 503), await soon(theirs.keys.sandbox, 503)]).toEqual([503, 503]);
  });
});

describe('an earlier row of a person', () => {
  const signIn = (email: string, password: string) =>
    dashboard.stranger().call('POST /sign-in', { body: { email, password } });
  const stateOf = async (person: DashboardClient) => (await person.do('GET /session')).state;
  const newPassword = 'a new quiet river';
  const changePassword = async (person: DashboardClient): Promise<void> => {
    await person.prove();
    await person.do('POST /me/password', { body: { password: newPassword } });
  };
  const keep = (id: string) =>
    scene.tamper(`create table kept_${id} as select * from people where id = '${id}';
      create table kept_sessions_${id} as select * from sessions where person_id = '${id}'`);
  const putBack = (id: string) =>
    unguarded(`delete from people where id = '${id}'; insert into people table kept_${id};
      delete from sessions where person_id = '${id}'; insert into sessions table kept_sessions_${id}`);

  test('opens nothing with an earlier password, and is logged', async () => {
    const person = await dashboard.newPerson('owner');
    await keep(person.personId);
    await changePassword(person);
    expect(await stateOf(person)).toBe('signed-in');
    await putBack(person.personId);
    forged.length = 0;
    expect((await signIn(person.email, testPassword)).status).toBe(401);
    const row = { id: person.personId };
    expect(forged).toContainEqual({ row, message: 'an earlier row was put back and is not used' });
    expect(await stateOf(person)).toBe('signed-out');
  });

  test('that was written by this process and not read since opens nothing', async () => {
    const person = await dashboard.newPerson('owner');
    await keep(person.personId);
    await changePassword(person);
    await putBack(person.personId);
    expect((await signIn(person.email, testPassword)).status).toBe(401);
  });

  test('of before their removal opens nothing', async () => {
    const person = await dashboard.newPerson('viewer');
    const membership = `memberships where person_id = '${person.personId}'`;
    await scene.tamper(`create table kept_membership as select * from ${membership}`);
    await keep(person.personId);
    await removePerson(scene.admin, person.email, { accountId: null, keys: undefined, evenLastOwner: false });
    // The server reads all people each minute.
    await keepPersonRevisions(scene.config, scene.admin);
    await putBack(person.personId);
    await unguarded(`delete from ${membership}; insert into memberships table kept_membership`);
    expect(await findPersonByEmail((await newProcess()).db, person.email)).toBeNull();
    // As a start does for which the operator declares a restore.
    await forgetPeople(scene.config);
    expect(await findPersonByEmail((await newProcess()).db, person.email)).not.toBeNull();
  });

  test('opens no recovery link, also in a process that knows only the data directory', async () => {
    const person = await dashboard.newPerson('owner', (await scene.account()).id);
    const { token } = await createRecoveryLink(scene.admin, person.email);
    await scene.tamper(
      `create table kept_links as select * from recovery_links where person_id = '${person.personId}'`,
    );
    await keep(person.personId);
    const recover = (password: string) => dashboard.stranger().call('POST /recovery', { body: { token, password } });
    expect((await recover(newPassword)).status).toBe(200);
    await keepPersonRevisions(scene.config, scene.admin);
    await putBack(person.personId);
    await scene.tamper(`delete from recovery_links where person_id = '${person.personId}';
      insert into recovery_links table kept_links; drop table kept_links`);
    expect((await recover(testPassword)).status).toBe(404);
    const other = await newProcess();
    expect(await findPersonByEmail(other.db, person.email)).toBeNull();
    await expect(createRecoveryLink(other, person.email)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is what is there if the transaction of a later one was taken back', async () => {
    const { personId, email } = await dashboard.newPerson('viewer');
    const { db } = scene.admin;
    const read = async () => (await findPersonByEmail(db, email))?.name;
    const failing = db.transaction(async tx => {
      await updatePersonName(tx, personId, 'Never');
      expect((await findPersonByEmail(tx, email))?.name).toBe('Never');
      throw new Error('taken back');
    });
    await expect(failing).rejects.toThrow('taken back');
    expect(await read()).not.toBe('Never');
    await db.transaction(tx => updatePersonName(tx, personId, 'Ada'));
    expect(await read()).toBe('Ada');
  });
});
