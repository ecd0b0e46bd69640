import { expect, test } from 'vitest';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { silentLog } from '../../src/core/log.ts';
import { verifyRegisters } from '../../src/engine/audit/register.ts';
import { remakeAccount } from '../../src/engine/keys/remakeAccount.ts';
import { remakeSealedTable, sealStateOf } from '../../src/engine/keys/remakeSealed.ts';
import type { Remaking, Round } from '../../src/engine/keys/remaking.ts';
import type { Database } from '../../src/storage/database.ts';
import { readSealedRows } from '../../src/storage/seals.ts';
import { createKeyRing } from '../../src/vault/keyRing.ts';
import { masterKeyOf, masterKeyPath, readKeyFile } from '../../src/vault/masterKey.ts';
import { createVault } from '../../src/vault/vault.ts';
import { startDashboard } from '../support/dashboard.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { endKey } from '../support/operator.ts';

const dashboard = await startDashboard();
const { scene } = dashboard;
const { db } = scene.admin;
const formerKey = (await readKeyFile(masterKeyPath(scene.config.dataDir)))!;
const nextKey = masterKeyOf(Buffer.alloc(32, 9));
const [former, next] = [createVault(formerKey), createVault(nextKey)];

/** A database in which somebody acts once: before the first transaction, or before a statement of it. */
const actingBefore = (act: () => Promise<void>, statement: string | null): Database => {
  let isDone = false;
  const once = async (): Promise<void> => {
    if (!isDone) await act();
    isDone = true;
  };
  return {
    ...db,
    async transaction(work) {
      if (statement === null) await once();
      return db.transaction(tx =>
        work({
          async query(asked, values) {
            if (asked.name === statement) await once();
            return tx.query(asked, values);
          },
        }),
      );
    },
  };
};
const remakingIn = (database: Database): Remaking => ({ former, next, progress() {}, db: database });
const newRound = (): Round => ({ remade: 0, left: 0, forged: [] });

/** What the row of a person says, and whether it is sealed with the next key. */
const rowOf = async (id: string) => {
  const rows = await readSealedRows(db, 'people', { after: null, limit: 1_000, all: true });
  const { text, seal } = rows.find(row => JSON.parse(row.text).id === id)!;
  const { name, email } = JSON.parse(text) as { name: string; email: string };
  return { name, email, state: sealStateOf(remakingIn(db), 'people', text, Buffer.from(seal!, 'hex')) };
};

test('an update that changes more than it says is taken back', async () => {
  const person = await dashboard.newPerson('viewer');
  const rename = (name: string) => person.call('PATCH /me', { body: { name } });
  expect((await rename('Ada')).status).toBe(200);
  await scene.tamper(`create function take_over() returns trigger language plpgsql as
      $$ begin new.email = 'evil@shop.example'; return new; end $$;
    create trigger take_over before update of name on people for each row execute function take_over()`);
  expect((await rename('Bob')).status).toBe(503);
  expect(await rowOf(person.personId)).toMatchObject({ name: 'Ada', email: person.email, state: 'former' });
  await scene.tamper('drop trigger take_over on people');
  expect((await rename('Bob')).status).toBe(200);
});

test('a rotation seals no row that changed after it was verified', async () => {
  const [person, other] = [await dashboard.newPerson('viewer'), await dashboard.newPerson('viewer')];
  const forge = () => scene.tamper(`update people set name = 'Forged' where id = '${person.personId}'`);
  const round = newRound();
  await remakeSealedTable(remakingIn(actingBefore(forge, null)), 'people', round);
  expect(await rowOf(person.personId)).toMatchObject({ name: 'Forged', state: 'forged' });
  expect(await rowOf(other.personId)).toMatchObject({ state: 'next' });
  expect(round.left).toBe(1);
  const again = newRound();
  await remakeSealedTable(remakingIn(db), 'people', again);
  expect(again).toEqual({ remade: 0, left: 0, forged: [`people ${person.personId}`] });
});

test('a rotation vouches for no register that it did not verify', async () => {
  const ring = createKeyRing({ current: nextKey, other: formerKey, isNext: true });
  const context = { ...scene.admin, vault: ring.vault };
  const remake = async (accountId: string, database: Database): Promise<readonly string[]> => {
    const round = newRound();
    await remakeAccount(context, remakingIn(database), accountId, round);
    return round.forged;
  };
  /** An account with a key that was revoked, and what puts it back. */
  const withRevokedKey = async () => {
    const { id } = await scene.account();
    const { id: keyId } = await scene.key(id, 'sandbox');
    await scene.tamper(`create table kept_${keyId} as select * from api_keys where id = '${keyId}';
      create table head_${keyId} as select * from audit_heads where account_id = '${id}'`);
    await endKey(scene.admin, keyId);
    const putBack = () =>
      scene.tamper(`delete from api_keys where id = '${keyId}'; insert into api_keys table kept_${keyId}`);
    /** As the owner of the tables, who can turn triggers off. */
    const putHeadBack = () =>
      scene.tamper(`set session_replication_role = replica; delete from audit_heads where account_id = '${id}';
        insert into audit_heads table head_${keyId}; set session_replication_role = origin`);
    return { id, putBack, putHeadBack };
  };
  const [one, two, three] = [await withRevokedKey(), await withRevokedKey(), await withRevokedKey()];
  await two.putBack();
  await two.putHeadBack();
  expect(await remake(one.id, actingBefore(one.putBack, 'remade-columns-account_settings'))).toEqual([
    `audit_heads ${one.id}`,
  ]);
  expect(await remake(two.id, db)).toEqual([`audit_heads ${two.id}`]);
  expect(await remake(three.id, db)).toEqual([]);
  const storage = await openStorage(scene.config, silentLog);
  atEndOfFile(storage.stop);
  const { problems } = await verifyRegisters(await openAdmin(scene.config, storage, silentLog, ring));
  expect([one, two, three].map(({ id }) => problems.some(problem => problem.includes(id)))).toEqual([
    true,
    true,
    false,
  ]);
});
