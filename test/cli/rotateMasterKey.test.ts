import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { silentLog } from '../../src/core/log.ts';
import { totpContext } from '../../src/engine/access/totpContext.ts';
import { createClient } from '../support/client.ts';

import { atEndOfFile } from '../support/endOfFile.ts';
import { startSecondFlorin } from '../support/secondFlorin.ts';
import { until } from '../support/until.ts';
import { expectSignedEvent, findingsOf, type RotationScene, startRotationScene } from './rotationScene.ts';

const newPassword = 'another quiet river at noon';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

type Report = { rotated: boolean; remade: number; forged: string[]; withoutCodes: { email: string }[] };

/** What a merchant does all the time. Returns how often it was answered, once stopped. */
const useMeanwhile = (scene: RotationScene) => {
  const { calls, owner, paid } = scene;
  let isOver = false;
  const work = async (): Promise<number> => {
    let count = 0;
    while (!isOver) {
      const answers = await Promise.all([calls.create(), calls.read(paid), calls.list(), scene.repeat()]);
      for (const answer of answers) expect(answer.status, answer.text).toBe(200);
      const { id } = answers[0].json;
      expect((await calls.act(id, 'cancel')).status).toBe(200);
      expect((await owner.call('GET /me/sessions')).status).toBe(200);
      count += 1;
    }
    return count;
  };
  const working = work();
  // Its fault is that of whoever stops it.
  working.catch(() => {});
  return () => {
    isOver = true;
    return working;
  };
};

const newAdmin = async ({ dashboard: { scene } }: RotationScene) => {
  const storage = await openStorage(scene.config, silentLog);
  atEndOfFile(storage.stop);
  return openAdmin(scene.config, storage);
};

test('the master key is replaced while Florin serves, and everything works after', { tags: ['thorough'] }, async () => {
  const scene = await startRotationScene();
  const { dashboard, calls, owner, recoveryCodes, account } = scene;
  const { config, admin } = dashboard.scene;
  const scope = { accountId: account.id, environment: 'sandbox' } as const;
  const [before, kept, keptSecret] = [await calls.read(scene.paid), await scene.repeat(), await scene.repeatSecret()];
  const keys = join(config.dataDir, 'keys');
  const former = await readFile(join(keys, 'master'), 'utf8');
  // An authenticator that is not new, as the change of the password keeps it.
  await admin.db.script(`update people set earlier_until = clock_timestamp() + interval '2 days',
    earlier_password_hash = password_hash, earlier_totp_secret = totp_secret, earlier_totp_step = totp_last_step,
    earlier_recovery_hashes = recovery_hashes where id = '${owner.personId}'`);
  await owner.do('POST /me/password', { body: { password: newPassword } });

  const stop = useMeanwhile(scene);
  const { code, stdout, stderr } = await scene.florin('rotate', 'master-key', '--json');
  expect(await stop()).toBeGreaterThan(0);
  expect(code, stderr).toBe(0);
  const report = JSON.parse(stdout) as Report;
  expect(report).toMatchObject({ rotated: true, forged: [], withoutCodes: [{ email: owner.email }] });
  expect(report.remade).toBeGreaterThan(50);

  const today = new Date().toISOString().slice(0, 10);
  expect((await readdir(keys)).sort()).toEqual(['master', `master.before-${today}`]);
  expect(await readFile(join(keys, `master.before-${today}`), 'utf8')).toBe(former);
  expect((await stat(join(keys, 'master'))).mode & 0o777).toBe(0o600);

  expect(await findingsOf(scene)).toBe('');
  const { address, status, completedAt } = before.json;
  expect((await calls.read(scene.paid)).json).toMatchObject({ address, status, completedAt });
  expect((await scene.repeat()).text).toBe(kept.text);
  expect((await scene.repeatSecret()).text).toBe(keptSecret.text);
  await expectSignedEvent(scene);
  expect((await owner.call('GET /me/sessions')).status).toBe(200);

  const next = await newAdmin(scene);
  expect(Buffer.from(next.vault.salt(scope, 3n))).toEqual(Buffer.from(admin.vault.salt(scope, 3n)));
  const signIn = { email: owner.email, password: newPassword };
  const withCode = (given: string) => dashboard.stranger().call('POST /sign-in', { body: { ...signIn, code: given } });
  expect((await withCode(recoveryCodes[0]!)).status).toBe(401);
  expect((await withCode(scene.nextCode)).status).toBe(200);
  const text = `select id, first_account_id as "firstAccountId", totp_secret as "now", earlier_totp_secret as earlier,
    earlier_recovery_hashes as codes from people where id = '${owner.personId}'`;
  type Kept = { id: string; firstAccountId: string; now: Buffer; earlier: Buffer; codes: Buffer[] | null };
  const [person] = await admin.db.query<Kept>({ name: '', text });
  const [now, earlier] = [person!.now, person!.earlier].map(sealed => next.vault.open(sealed, totpContext(person!)));
  expect([earlier, person!.codes]).toEqual([now, null]);
  expect(person!.earlier, 'so that a code that was used works for neither').toEqual(person!.now);

  // As if the command had ended between the database and the file.
  await rename(join(keys, 'master'), join(keys, 'master.next'));
  await rename(join(keys, `master.before-${today}`), join(keys, 'master'));
  const again = JSON.parse((await scene.florin('rotate', 'master-key', '--json')).stdout) as Report;
  expect(again.rotated).toBe(false);
  expect((await readdir(keys)).sort()).toEqual(['master', `master.before-${today}`]);

  // A key that replaced another can be replaced as well.
  expect((await scene.florin('rotate', 'master-key', '--json')).code).toBe(0);
  expect(await findingsOf(scene)).toBe('');
  await expectSignedEvent(scene);
});

/** A part of each kind: accounts with their logs, small tables, large tables, the outbox. */
const killedAfter = [
  'audit_log',
  'people',
  'sessions',
  'payments',
  'events',
  'idempotency_keys',
  'transfers',
  'outbox',
];

test('a rotation that is killed goes on, and a start in the middle has both keys', { tags: ['thorough'] }, async () => {
  const scene = await startRotationScene();
  const { config } = scene.dashboard.scene;
  const { address } = (await scene.calls.read(scene.paid)).json;
  for (const table of killedAfter) {
    const killed = scene.rotate();
    await until(killed.stderr, text => text.includes(`${table}: `));
    killed.kill('SIGKILL');
    await killed.ended;
    expect((await scene.calls.read(scene.paid)).json).toMatchObject({ address, status: 'completed' });
    await scene.calls.made();
    if (table === killedAfter[0]) expect(await findingsOf(scene)).toContain('the master key is being replaced');
  }
  const { florin } = await startSecondFlorin(config.database!.url, {
    FLORIN_MASTER_KEY: await readFile(join(config.dataDir, 'keys', 'master'), 'utf8'),
    FLORIN_NEXT_MASTER_KEY: await readFile(join(config.dataDir, 'keys', 'master.next'), 'utf8').catch(() => ''),
  });
  const client = await createClient(florin);
  atEndOfFile(client.close);
  const { keys } = scene.account;
  expect((await client.call('GET', `/v1/payments/${scene.unpaid}`, { key: keys.sandbox })).status).toBe(200);
  await florin.stop();

  const { code, stderr } = await scene.florin('rotate', 'master-key', '--json');
  expect(code, stderr).toBe(0);
  expect(await findingsOf(scene)).toBe('');
  await expectSignedEvent(scene);
});

test('what somebody wrote into the database is not made genuine', { tags: ['thorough'] }, async () => {
  const scene = await startRotationScene();
  const { scene: florin, accountId } = scene.dashboard;
  const other = await florin.account();
  await florin.tamper(`
    update api_keys set scopes = '{payments:read}' where id = '${other.keyIds.sandbox}';
    update payments set amount_received = amount where id = '${scene.unpaid}';
    update payments set mac = '\\x${'00'.repeat(32)}' where id = '${scene.paid}';
    update account_settings set callback_secret = '\\x${'01'.repeat(60)}' where account_id = '${other.id}';
    update audit_log set hash = '\\x${'00'.repeat(32)}' where account_id = '${accountId}' and sequence = 2`);
  const before = await findingsOf(scene);
  const { code, stdout, stderr } = await scene.florin('rotate', 'master-key', '--json');
  expect(code, stderr).toBe(0);
  const { forged } = JSON.parse(stdout) as Report;
  expect([...forged].sort()).toEqual([
    `account_settings ${other.id} production`,
    `account_settings ${other.id} sandbox`,
    `api_keys ${other.id} sandbox ${other.keyIds.sandbox}`,
    `audit_heads ${other.id}`,
    `audit_log ${accountId} 2`,
    ...[scene.paid, scene.unpaid].map(id => `payments ${accountId} sandbox ${id}`).sort(),
  ]);
  expect(await findingsOf(scene)).toBe(before);
  expect((await scene.calls.read(scene.unpaid)).status).toBe(500);
  expect((await scene.calls.read(scene.paid)).status).toBe(500);
  expect((await scene.dashboard.scene.client.call('GET', '/v1/payments', { key: other.keys.sandbox })).status).toBe(
    401,
  );
  await scene.calls.made();
});

test('the rotation waits for a process without the next key, and nobody else can begin one', {
  tags: ['thorough'],
}, async () => {
  const scene = await startRotationScene();
  const { config, tamper } = scene.dashboard.scene;
  const url = config.database!.url;
  const former = await readFile(join(config.dataDir, 'keys', 'master'), 'utf8');
  const second = await startSecondFlorin(url, { FLORIN_MASTER_KEY: former });
  const client = await createClient(second.florin);
  atEndOfFile(client.close);

  const prepared = await scene.florin('rotate', 'master-key', '--prepare', '--json');
  const { path } = JSON.parse(prepared.stdout) as { path: string };
  const rotating = scene.rotate();
  await until(rotating.stderr, text => text.includes('Waiting for a process without the next key'));
  const body = { amount: '1', currency: 'USDC', network: 'base' };
  const { key } = { key: scene.account.keys.sandbox };
  const made = await client.call('POST', '/v1/payments', { key, body });
  expect(made.status, made.text).toBe(200);
  await expect(startSecondFlorin(url, { FLORIN_MASTER_KEY: former })).rejects.toThrow('does not have the next one');
  await second.stop();
  const { code, stderr } = await rotating.ended;
  expect(code, stderr).toBe(0);
  expect((await scene.calls.read(made.json.id)).status).toBe(200);
  await expect(startSecondFlorin(url, { FLORIN_MASTER_KEY: former })).rejects.toThrow('does not match');
  await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });

  await tamper(`update deployment set value = 'begun ' || (
      select value from deployment where name = 'master_key_fingerprint') || ' ${'2'.repeat(32)} ${'3'.repeat(64)}'
    where name = 'master_key_rotation'`);
  const refused = await scene.florin('rotate', 'master-key');
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('The mark of a key rotation was changed in the database');
  await expectSignedEvent(scene);
});

test('with FLORIN_MASTER_KEY, the command says what to set, and nothing stops before it is set', {
  tags: ['thorough'],
}, async () => {
  const scene = await startRotationScene({ FLORIN_MASTER_KEY: 'ab'.repeat(32) });
  const { code, stdout, stderr } = await scene.florin('rotate', 'master-key', '--json');
  expect(code, stderr).toBe(0);
  const path = join(scene.dashboard.scene.config.dataDir, 'keys', 'master.next');
  const { steps } = JSON.parse(stdout) as { steps: string[] };
  expect(steps[0]).toBe(`Set FLORIN_MASTER_KEY to the content of ${path}, then delete that file.`);
  expect(await findingsOf(scene)).toBe('');
  await expectSignedEvent(scene);

  scene.env.FLORIN_MASTER_KEY = (await readFile(path, 'utf8')).trim();
  expect((await scene.florin('rotate', 'master-key')).stderr).toContain('The next key is in force already');
  await rm(path);
  expect(await findingsOf(scene)).toBe('');
});
