import { beforeAll, expect, test } from 'vitest';
import { examineSeals } from '../../src/cli/doctorChecks.ts';
import { sealOlderCorrections } from '../../src/engine/seals/sealOlderCorrections.ts';
import { sealOlderRows } from '../../src/engine/seals/sealOlderRows.ts';
import { correctLedger } from '../../src/engine/settlement/correctLedger.ts';
import { readAgain } from '../../src/storage/chain/addressChecks.ts';
import { writeDifferences } from '../../src/storage/settlement/differences.ts';
import type { Written } from '../api/listingScene.ts';
import { coin, startCoinScene } from './coinScene.ts';
import { type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
  await sealOlderRows({ ...quiet.scene.admin, log: quiet.context.log }, false);
});

/** As the owner of the tables, past all guards. */
const unguarded = (sql: string): Promise<void> =>
  quiet.scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);
const problems = async (): Promise<string[]> => (await examineSeals(quiet.scene.config, quiet.scene.admin)).problems;

/** What the role of the service can write. */
const insertCorrection = (payment: Written, caip2: string, amount: number): Promise<void> =>
  quiet.scene.tamper(`with made as (
      insert into differences (account_id, environment, payment_id, caip2, amount, recorded, block_number, resolved_at)
      select account_id, environment, id, '${caip2}', ${amount}, 0, 1, now() from payments where id = '${payment.id}'
      returning *
    )
    insert into ledger_corrections (difference_id, account_id, environment, payment_id, caip2, amount, block_number,
      corrected_by, reason)
    select id, account_id, environment, payment_id, caip2, amount, block_number, 'Ada', 'It was swept.' from made`);

test('a correction that somebody wrote into the database pays nothing', async () => {
  const watched = await startCoinScene(quiet);
  const [payment, other] = (await watched.payments(2)) as [Written, Written];
  await watched.chain.mine(20);
  await watched.turn();
  await insertCorrection(payment, watched.caip2, -7);
  await watched.chain.mine(2);
  await watched.turn();
  expect(await watched.transfers(payment)).toEqual([]);
  const [notice] = watched.said('records of addresses were changed in the database: run florin doctor');
  expect(notice!.fields).toMatchObject({ forged: 'addresses', payments: [payment.id] });
  const [{ id }] = (await quiet.read<{ id: string }>(
    `select difference_id::text as id from ledger_corrections where payment_id = '${payment.id}'`,
  )) as [{ id: string }];
  // A start gives it no seal either.
  await sealOlderRows({ ...quiet.scene.admin, log: quiet.context.log }, true);
  expect(await problems()).toEqual([
    `ledger_corrections ${id} was changed in the database`,
    expect.stringMatching(`a ledger correction of ${payment.id} .* is not in the audit log`),
  ]);
  expect(quiet.errors.map(({ message }) => message)).toContain('a correction is not in the audit log: no seal');
  const read = await readAgain(quiet.context.db, quiet.context.vault, watched.caip2, [other.id]);
  expect(read).toMatchObject([{ isForged: false }]);
  await unguarded(`delete from ledger_corrections where difference_id = ${id}`);
});

test('a correction by the operator counts, before it had a seal and after', async () => {
  const watched = await startCoinScene(quiet);
  const { admin } = quiet.scene;
  const { payment } = await watched.paidOnce();
  const [{ accountId }] = (await quiet.read<{ accountId: string }>(
    `select account_id as "accountId" from payments where id = '${payment.id}'`,
  )) as [{ accountId: string }];
  const key = { accountId, environment: 'sandbox', id: payment.id } as const;
  const difference = { key, contract: null, amount: 3n, recorded: 0n, blockNumber: 1 };
  await writeDifferences(admin.db, watched.caip2, [difference]);
  const [{ id }] = (await quiet.read<{ id: string }>(
    `select id::text from differences where payment_id = '${payment.id}'`,
  )) as [{ id: string }];
  await correctLedger(admin, { id, amount: 3n }, { by: 'Ada', reason: 'It came from a contract.' });
  const isForged = async () =>
    (await readAgain(admin.db, admin.vault, watched.caip2, [payment.id])).map(row => row.isForged);
  expect([await isForged(), await problems()]).toEqual([[false], []]);

  await unguarded(`update ledger_corrections set row_seal = null where difference_id = ${id}`);
  expect(await isForged()).toEqual([true]);
  await sealOlderRows({ ...admin, log: quiet.context.log }, true);
  expect([await isForged(), await problems()]).toEqual([[false], []]);
  await watched.turn();
  expect(await watched.transfers(payment)).toMatchObject([{ amount: coin(0, 4).amount }]);

  // The log has one act, so a second row like it gets no seal.
  await unguarded(`insert into ledger_corrections select (jsonb_populate_record(c,
    '{"difference_id": 1000000, "row_seal": null}')).* from ledger_corrections c where difference_id = ${id}`);
  await sealOlderCorrections({ ...admin, log: quiet.context.log });
  expect(await isForged()).toEqual([true]);
  const untold = expect.stringContaining('is not in the audit log');
  expect(await problems()).toEqual(['ledger_corrections 1000000 was changed in the database', untold]);
  await unguarded(`delete from ledger_corrections where payment_id = '${payment.id}'`);
  expect(await problems()).toEqual([`a ledger correction of ${payment.id} (sandbox) of ${accountId} was removed`]);
});
