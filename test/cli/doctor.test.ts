import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { noticeAuditLoss, openAuditHeads } from '../../src/cli/auditHeadsFile.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { operatorActing } from '../../src/engine/audit/acting.ts';
import { confirmRecords } from '../../src/engine/audit/confirmRecords.ts';
import { perform } from '../../src/engine/perform.ts';
import { otherTreasury, startWalletScene, treasury } from '../dashboard/walletScene.ts';
import { setWallet } from '../support/operator.ts';
import { eventually } from '../support/until.ts';
import { run } from './cliProcess.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let wallets: Awaited<ReturnType<typeof startWalletScene>>;
beforeAll(async () => {
  wallets = await startWalletScene();
  await wallets.owner.prove();
  await wallets.request({ treasury });
});
beforeEach(() => wallets.owner.prove());

const production = { environment: 'production' } as const;
const sql = (text: string) => wallets.scene.admin.db.script(text);
const mine = () => `account_id = '${wallets.accountId}' and environment = 'production' and network = 'ethereum'`;
const headsPath = () => join(wallets.scene.config.dataDir, 'audit-heads.json');

const doctor = async (): Promise<{ code: number | null; problems: string }> => {
  const { dataDir, database } = wallets.scene.config;
  const { code, stdout, stderr } = await run(['doctor', '--json', '--data-dir', dataDir], dirname(dataDir), {
    DATABASE_URL: database!.url,
  });
  expect(stderr).toBe('');
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: { ok: boolean; detail: string }[] };
  expect(ok).toBe(code === 0);
  return {
    code,
    problems: findings
      .filter(each => !each.ok)
      .map(each => each.detail)
      .join('; '),
  };
};
const well = { code: 0, problems: '' };

test('a change that waits, one that was stopped and one that the operator replaced are all well', async () => {
  const first = await wallets.request({ treasury: otherTreasury });
  expect(await doctor()).toEqual(well);
  const stopping = { ...production, params: { id: first.json.pending!.id } };
  await wallets.owner.do('POST /wallet-changes/:id/stop', stopping);
  await wallets.request({ treasury: otherTreasury });
  const { admin } = wallets.scene;
  await setWallet(admin, { accountId: wallets.accountId, ...production }, 'ethereum', { treasury });
  expect(await doctor()).toEqual(well);
});

test.each(['version = 2', 'version = 3'])('a stop that was removed is told: %s', async which => {
  await sql(`create table kept as select * from wallet_stops where ${mine()} and ${which};
    delete from wallet_stops where ${mine()} and ${which}`);
  const { code, problems } = await doctor();
  expect(code).toBe(1);
  expect(problems).toBe(
    `the stop of wallet ethereum (production, ${which.replace(' =', '')}) of ${wallets.accountId} was removed`,
  );
  await sql('insert into wallet_stops select * from kept; drop table kept');
});

test('what was given up is counted', async () => {
  await sql(`insert into outbox (id, kind, content, failures, parked_at, parked_reason)
    values ('out_1', 'alert', '\\x00', 9, clock_timestamp(), 'answered 500')`);
  const { code, problems } = await doctor();
  expect(code).toBe(1);
  expect(problems).toMatch(/^given up in the last 30 days: 1 × alert, the latest at 20[^;]*$/);
  await sql(`delete from outbox`);
});

test('a wallet that was removed is told, and a stop that nobody made', { tags: ['thorough'] }, async () => {
  await sql(`create table kept as select * from wallets where ${mine()} and version = 4;
    delete from wallets where ${mine()} and version = 4`);
  expect((await doctor()).problems).toMatch(/^wallet ethereum \(production, version 4\) of \S+ was removed$/);
  await sql('insert into wallets select * from kept; drop table kept');
  await sql(`insert into wallet_stops (account_id, environment, network, version, stopped_by)
    values ('${wallets.accountId}', 'production', 'ethereum', 4, 'Nobody')`);
  expect((await doctor()).problems).toMatch(/^the stop of .* version 4.* is not in the audit log$/);
  await sql(`delete from wallet_stops where ${mine()} and version = 4`);
  expect(await doctor()).toEqual(well);
});

/** As the owner of the database can, who turns triggers off. */
const unguarded = (text: string) =>
  sql(`alter table audit_log disable trigger user; alter table audit_heads disable trigger user; ${text};
    alter table audit_log enable trigger user; alter table audit_heads enable trigger user`);

const cutTail = () => {
  const account = `account_id = '${wallets.accountId}'`;
  return unguarded(`delete from audit_log where ${account} and sequence = (select max(sequence) from audit_log where ${account});
    update audit_heads h set sequence = l.sequence, hash = l.hash from (
      select sequence, hash from audit_log where ${account} order by sequence desc limit 1) l where ${account}`);
};

test('an end of the audit log that was cut off is told, whoever adds to it later', { tags: ['thorough'] }, async () => {
  const { admin } = wallets.scene;
  const scope = { accountId: wallets.accountId, ...production };
  await setWallet(admin, scope, 'ethereum', { treasury: otherTreasury });
  expect(await doctor()).toEqual(well);
  expect((await stat(headsPath())).mode & 0o777).toBe(0o600);
  const remembered = await readFile(headsPath(), 'utf8');
  await cutTail();
  const { code, problems } = await doctor();
  expect(code).toBe(1);
  const cut = /^audit log of \S+: it ends at row \d+, and had \d+ rows before/.exec(problems!)?.[0];
  expect(problems).toMatch(/^audit log of \S+: it ends at row \d+, and had \d+ rows before/);
  expect(await readFile(headsPath(), 'utf8'), 'what was remembered stays').toBe(remembered);

  const errors: object[] = [];
  const nothing = (): void => {};
  const log: Log = { debug: nothing, info: nothing, warn: nothing, error: fields => void errors.push(fields) };
  await noticeAuditLoss(wallets.scene.config, wallets.scene.admin, log);
  expect(errors).toEqual([{ forged: 'audit_log', problems: [cut] }]);

  await expect(setWallet(admin, scope, 'ethereum', { treasury })).rejects.toThrow('were changed in the database');
  const ofAccount = operatorActing({ accountId: wallets.accountId, environment: null });
  await perform(admin, ofAccount, null, confirmRecords(admin));
  await setWallet(admin, scope, 'ethereum', { treasury });
  expect((await doctor()).problems).toMatch(/: row \d+ is not the one that was there before/);
});

test('the end of each log is kept while Florin runs, and at its stop', async () => {
  const { admin, config } = wallets.scene;
  const scope = { accountId: wallets.accountId, ...production };
  const endOf = async () => {
    const text = 'select sequence::text as sequence from audit_heads where account_id = $1';
    return (await admin.db.query<{ sequence: string }>({ name: '', text }, [wallets.accountId]))[0]!.sequence;
  };
  const kept = async () =>
    (JSON.parse(await readFile(headsPath(), 'utf8')) as { accountId: string; sequence: string }[]).find(
      ({ accountId }) => accountId === wallets.accountId,
    )!.sequence;
  await rm(headsPath());
  const often = await openAuditHeads(config, admin, silentLog, 20);
  await setWallet(admin, scope, 'base', { treasury });
  const end = await endOf();
  await eventually(async () => expect(await kept()).toBe(end));
  await often.stop();
  const never = await openAuditHeads(config, admin, silentLog, 3_600_000);
  await setWallet(admin, scope, 'base', { treasury: otherTreasury });
  await never.stop();
  expect(await kept()).toBe(await endOf());
});

test('a file that somebody wrote to is told, and left as it is', async () => {
  await writeFile(headsPath(), '[{"accountId":1}]');
  expect((await doctor()).problems).toContain('audit-heads.json was changed or damaged');
  expect(await readFile(headsPath(), 'utf8')).toBe('[{"accountId":1}]');
});
