import { beforeAll, expect, test, vi } from 'vitest';
import { addPerson } from '../../src/engine/access/people.ts';
import { sealRegister } from '../../src/engine/audit/register.ts';
import { auditRows } from '../dashboard/auditRows.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import { run } from './cliProcess.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let scene: TestFlorin;
beforeAll(async () => {
  scene = await startTestFlorin();
});

const command = async (...args: string[]) => {
  const { dataDir, database } = scene.config;
  const settings = { DATABASE_URL: database!.url };
  const { code, stdout, stderr } = await run([...args, '--json', '--data-dir', dataDir], dataDir, settings);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

test('every command that changes or shows something is in the audit log, and no secret is', {
  tags: ['thorough'],
}, async () => {
  const { id } = await command('accounts', 'create', '--name', 'Shop');
  await command('accounts', 'update', id, '--support-contact', 'help@shop.example');
  const first = await command('keys', 'create', '--account', id, '--name', 'Till');
  const second = await command('keys', 'rotate', first.id, '--overlap', '1h');
  await command('keys', 'revoke', second.id);
  await command('keys', 'revoke', second.id);
  const { secret } = await command('secrets', 'callback', '--account', id);
  const rows = await auditRows(scene, id);
  expect(rows.map(({ action, subject, environment }) => [action, subject, environment])).toEqual([
    ['account.created', id, null],
    ['settings.changed', null, 'sandbox'],
    ['key.created', first.id, 'sandbox'],
    ['key.rotated', first.id, 'sandbox'],
    ['key.revoked', second.id, 'sandbox'],
    ['secret.revealed', 'callbackUrl', 'sandbox'],
  ]);
  expect(new Set(rows.map(row => row.actor))).toEqual(new Set(['Command line']));
  expect(rows[1]!.detail).toEqual({ supportContact: { before: null, after: 'help@shop.example' } });
  expect(rows[3]!.detail).toMatchObject({ name: 'Till', successorId: second.id, overlap: '1h' });
  for (const hidden of [first.key, second.key, secret]) expect(JSON.stringify(rows)).not.toContain(hidden);
});

test('the first account and its key were made by Florin itself', async () => {
  const rows = await auditRows(scene, scene.florin.firstRun!.accountId);
  expect(rows.slice(0, 2).map(({ action, actor }) => [action, actor])).toEqual([
    ['account.created', 'Florin'],
    ['key.created', 'Florin'],
  ]);
  expect(JSON.stringify(rows)).not.toContain(scene.florin.firstRun!.key);
});

test('what is refused is not in the log', { tags: ['thorough'] }, async () => {
  const { id } = await command('accounts', 'create', '--name', 'Other');
  const { dataDir, database } = scene.config;
  const bad = ['accounts', 'update', id, '--support-contact', 'nowhere', '--data-dir', dataDir];
  expect((await run(bad, dataDir, { DATABASE_URL: database!.url })).code).toBe(2);
  expect((await auditRows(scene, id)).map(row => row.action)).toEqual(['account.created']);
});

test('a live wallet and a live key come with a warning if no owner of the account has a second factor', {
  tags: ['thorough'],
}, async () => {
  const { id } = await command('accounts', 'create', '--name', 'Weak');
  const key = ['keys', 'create', '--account', id, '--environment'];
  const treasury = '0x52908400098527886E0F7030069857D2E4169EE7';
  const wallet = ['wallets', 'set', '--account', id, '--network', 'base', '--treasury', treasury, '--environment'];
  const { dataDir, database } = scene.config;
  const warns = async (args: string[]): Promise<boolean> => {
    const ended = await run([...args, '--data-dir', dataDir], dataDir, { DATABASE_URL: database!.url });
    expect(ended.code, ended.stderr).toBe(0);
    return ended.stderr.includes('Warning: no owner of this account has a second factor.');
  };
  expect(await warns([...key, 'production']), 'without an owner').toBe(false);
  const { admin } = scene;
  const owner = await admin.db.transaction(async tx => {
    const person = {
      accountId: id,
      email: 'weak@example.com',
      name: 'Weak',
      role: 'owner',
      passwordHash: null,
    } as const;
    const added = await addPerson(admin, tx, person);
    await sealRegister(admin, tx, id);
    return added;
  });
  expect(await warns([...key, 'sandbox'])).toBe(false);
  expect([await warns([...key, 'production']), await warns([...wallet, 'production'])]).toEqual([true, true]);
  await admin.db.script(`update people set passkey_ids = array['psk_' || repeat('0', 26)] where id = '${owner.id}'`);
  expect(await warns([...wallet, 'production'])).toBe(false);
});
