import { expect, test } from 'vitest';
import { remakeSealedTable, sealStateOf } from '../../src/engine/keys/remakeSealed.ts';
import type { Remaking, Round } from '../../src/engine/keys/remaking.ts';
import { readSealedRows } from '../../src/storage/seals.ts';
import { masterKeyOf } from '../../src/vault/masterKey.ts';
import { createVault } from '../../src/vault/vault.ts';
import { startDashboard } from '../support/dashboard.ts';

const dashboard = await startDashboard();
const { scene } = dashboard;
const nextVault = createVault(masterKeyOf(Buffer.alloc(32, 9)));

/** What the row of a person says, and whether it is sealed with the next key. */
const rowOf = async (id: string) => {
  const rows = await readSealedRows(scene.admin.db, 'people', { after: null, limit: 1_000, all: true });
  const { text, seal } = rows.find(row => JSON.parse(row.text).id === id)!;
  const { name, email } = JSON.parse(text) as { name: string; email: string };
  const remaking = { former: scene.admin.vault, next: nextVault } as Remaking;
  return { name, email, state: sealStateOf(remaking, 'people', text, Buffer.from(seal!, 'hex')) };
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
  const { db, vault } = scene.admin;
  let isChanged = false;
  const remaking: Remaking = {
    former: vault,
    next: nextVault,
    progress() {},
    db: {
      ...db,
      async transaction(work) {
        if (!isChanged) await scene.tamper(`update people set name = 'Forged' where id = '${person.personId}'`);
        isChanged = true;
        return db.transaction(work);
      },
    },
  };
  const round: Round = { remade: 0, left: 0, forged: [] };
  await remakeSealedTable(remaking, 'people', round);
  expect(await rowOf(person.personId)).toMatchObject({ name: 'Forged', state: 'forged' });
  expect(await rowOf(other.personId)).toMatchObject({ state: 'next' });
  expect(round.left).toBe(1);
  const again: Round = { remade: 0, left: 0, forged: [] };
  await remakeSealedTable({ ...remaking, db }, 'people', again);
  expect(again).toEqual({ remade: 0, left: 0, forged: [`people ${person.personId}`] });
});
