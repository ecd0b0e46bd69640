import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { rememberedGateAt } from '../../src/cli/auditHeadsFile.ts';
import { startFlorin } from '../../src/cli/florin.ts';
import type { Log } from '../../src/core/log.ts';
import { putGate } from '../../src/engine/chain/restoreGate.ts';
import { declareRestored, detectRestore } from '../../src/engine/chain/restores.ts';
import { reviewForNobody } from '../../src/engine/chain/reviewRestore.ts';
import { createClient, type TestClient } from '../support/client.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin, type TestAccount } from '../support/florin.ts';
import { endKey } from '../support/operator.ts';
import { until } from '../support/until.ts';

let alarms: object[] = [];
const log: Log = { debug() {}, info() {}, warn() {}, error: fields => void alarms.push({ ...fields }) };
const scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api' }, keepAuditHeadsMs: 20, log });
const { admin, client, tamper } = scene;
const forged = { forged: 'deployment', name: 'restore_gate' };

let account: TestAccount;
beforeEach(async () => {
  account = await scene.account();
  alarms = [];
});

const write = (environment: 'production' | 'sandbox' = 'production') =>
  client.call('POST', '/v1/webhooks', {
    key: account.keys[environment],
    environment,
    body: { url: 'https://shop.example/hook' },
  });
const production = { environment: 'production' } as const;
const read = ({ keys }: TestAccount) => client.call('GET', '/v1/webhooks', { key: keys.production, ...production });
const untilAnswer = (status: number, message: string) =>
  until(write, answer => answer.status === status && answer.text.includes(message));
const isOpen = () => untilAnswer(200, '');
const call = (at: TestClient, { keys }: TestAccount) =>
  at.call('POST', '/v1/webhooks', { key: keys.production, ...production, body: { url: 'https://shop.example/hook' } });
const startAgain = async (): Promise<TestClient> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'florin-again-'));
  atEndOfFile(() => rm(dataDir, { recursive: true }));
  for (const name of ['keys', 'audit-heads.json', 'rows-sealed', 'derivation-epochs']) {
    await cp(join(scene.config.dataDir, name), join(dataDir, name), { recursive: true });
  }
  const florin = await startFlorin({ ...scene.config, dataDir }, log, undefined, { keepAuditHeadsMs: 20 });
  atEndOfFile(florin.stop);
  const at = await createClient(florin);
  atEndOfFile(at.close);
  return at;
};

/** As the operator does, and who looks at an account without an owner. */
const declareAndReview = async (): Promise<void> => {
  await declareRestored(admin, { most: 0 });
  await untilAnswer(503, `florin restored --review ${account.id}`);
  await reviewForNobody(admin, account.id);
  await isOpen();
};

test.each([
  ['removes the gate', `delete from deployment where name = 'restore_gate'`],
  ['writes a gate', `update deployment set value = 'open' where name = 'restore_gate'`],
  [
    'changes the time of the gate',
    `update deployment set value = replace(value, 'open 2', 'open 3') where name = 'restore_gate'`,
  ],
])('who %s closes production until the restore is declared', async (_, sql) => {
  await isOpen();
  await tamper(sql);
  await untilAnswer(503, 'florin restored');
  expect((await write('sandbox')).status).toBe(200);
  expect(alarms).toContainEqual(expect.objectContaining(forged));
  await declareAndReview();
});

test('who puts back the gate from before a restore opens nothing', async () => {
  await isOpen();
  await tamper(`create table kept_gate as select * from deployment where name = 'restore_gate'`);
  // An epoch that only the data directory knows.
  expect(await detectRestore(admin, [{ number: 1, mark: 7 }], log)).toBe('production');
  await untilAnswer(503, 'florin restored');
  await tamper(`update deployment d set value = k.value from kept_gate k where d.name = k.name`);
  await until(
    async () => [await write(), alarms.some(each => 'forged' in each)] as const,
    ([, isTold]) => isTold,
  );
  expect((await write()).text).toContain('florin restored');
  await declareAndReview();
});

test('rows that a file of an older version remembers close production until the restore is declared', async () => {
  await isOpen();
  const path = join(scene.config.dataDir, 'audit-heads.json');
  const older = [{ accountId: account.id, sequence: '999', hash: '0'.repeat(64) }];
  const kept = async () =>
    (JSON.parse(await readFile(path, 'utf8')) as { accountId: string; sequence: string; gateAt?: string }[]).find(
      ({ accountId }) => accountId === account.id,
    );
  await until(
    async () => {
      await writeFile(path, JSON.stringify(older));
      return write();
    },
    ({ text }) => text.includes('Rows of the audit log of this account are missing'),
  );
  await until(kept, head => head?.gateAt !== undefined);
  await declareAndReview();
  await until(kept, head => head?.sequence !== '999');
  expect((await write()).status).toBe(200);
});

test('rows of an audit log that are gone close production of that account until the restore is declared', async () => {
  const other = await scene.account();
  const id = `account_id = '${account.id}'`;
  await isOpen();
  await tamper(`create table kept_keys as select * from api_keys where ${id};
    create table kept_head as select * from audit_heads where ${id}`);
  await endKey(admin, account.keyIds.production);
  await until(
    () => read(account),
    ({ status }) => status === 401,
  );
  // As the owner of the tables, so that nothing in the database shows it.
  await tamper(`alter table audit_log disable trigger user; alter table audit_heads disable trigger user;
    delete from audit_log l using kept_head k where l.account_id = k.account_id and l.sequence > k.sequence;
    update audit_heads h set sequence = k.sequence, hash = k.hash, register = k.register, row_seal = k.row_seal
      from kept_head k where h.account_id = k.account_id;
    update api_keys a set revoked_at = k.revoked_at, row_seal = k.row_seal from kept_keys k where a.id = k.id;
    alter table audit_log enable trigger user; alter table audit_heads enable trigger user`);
  // This process has seen the end of the log, and refuses the account.
  await untilAnswer(503, 'were changed in the database');
  // One that is started now knows it from the data directory.
  const again = await startAgain();
  const refused = await call(again, account);
  expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('Rows of the audit log')]);
  expect((await again.call('GET', '/v1/webhooks', { key: account.keys.production, ...production })).status).toBe(200);
  expect((await call(again, other)).status).toBe(200);
  // Both forget what they have seen.
  await declareAndReview();
  await until(
    () => call(again, account),
    ({ status }) => status === 200,
  );
});

test('a declared restore opens production also where the clock is behind what the data directory knows', async () => {
  await isOpen();
  await tamper(`create table gate_of_backup as select * from deployment where name = 'restore_gate'`);
  await putGate(admin, 'open', '2999-01-01T00:00:00.000Z');
  await until(
    () => rememberedGateAt(scene.config),
    at => at > '2999',
  );
  await tamper(`update deployment d set value = k.value from gate_of_backup k where d.name = k.name`);
  await untilAnswer(503, 'florin restored');
  await declareRestored(admin, { most: 0, knownGateAt: await rememberedGateAt(scene.config) });
  await untilAnswer(503, `florin restored --review ${account.id}`);
  await reviewForNobody(admin, account.id);
  await isOpen();
});
