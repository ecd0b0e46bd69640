// @module-tag thorough
import { beforeAll, expect, test, vi } from 'vitest';
import { examineRecords } from '../../src/cli/doctorChecks.ts';
import { run } from '../cli/cliProcess.ts';
import { until } from '../support/until.ts';
import { auditRows } from './auditRows.ts';
import { type MoneyScene, startMoneyScene } from './moneyScene.ts';

// Each command is a process of its own, and a round begins within 15 seconds.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let scene: MoneyScene;
beforeAll(async () => {
  scene = await startMoneyScene();
});

const command = async (...args: string[]) => {
  const { dataDir, database } = scene.dashboard.scene.config;
  const { code, stdout, stderr } = await run([...args, '--json', '--data-dir', dataDir], dataDir, {
    DATABASE_URL: database!.url,
  });
  expect(stderr).toBe('');
  return { code, json: JSON.parse(stdout) };
};
const ledger = async () =>
  (await command('ledger', 'show', '--account', scene.account.id, '--environment', 'sandbox')).json.data;

const whole = 25_000_000n;

test('received, swept and stray funds are in the ledger, which adds up to zero and equals the chain', async () => {
  const [first, second] = [await scene.paid(), await scene.paid()];
  const { transactions } = await scene.plan({ network: 'base', currency: 'USDC' });
  await scene.chain.send({ to: transactions[0]!.to, data: transactions[0]!.data });
  const third = await scene.paid();
  await scene.simulate(third.id, 'wrong_token', 'completed');
  const tokens = await until(ledger, data => data.some((token: { stray: string }) => token.stray !== '0'));
  const usdc = tokens.find(({ treasury }: { treasury: string }) => treasury !== '0');
  expect(usdc).toMatchObject({
    received: `-${3n * whole}`,
    forwarders: `${whole}`,
    treasury: `${2n * whole}`,
    swept: `${2n * whole}`,
  });
  for (const { received, stray, found, corrected, forwarders, treasury } of tokens) {
    const sum = [received, stray, found, corrected, forwarders, treasury].reduce((all, one) => all + BigInt(one), 0n);
    expect(sum).toBe(0n);
  }
  const { code, json } = await command('ledger', 'check');
  expect([code, json.differences]).toEqual([0, []]);
  expect(json.chains).toContainEqual({ caip2: 'eip155:31337', compared: 3 });
  const { findings } = (await command('doctor', '--deep')).json;
  const compared = '3 addresses on 1 chains were compared with the chain';
  expect(findings).toContainEqual({ check: 'ledger', ok: true, detail: `no difference is open; ${compared}` });
  expect(findings).toContainEqual({ check: 'ledger facts', ok: true, detail: 'equals its facts' });
  expect(findings).toContainEqual({ check: 'records', ok: true, detail: 'nothing is missing' });
  expect([first, second].map(({ status }) => status)).toEqual(['completed', 'completed']);
});

test('a difference of one base unit is on every page that should show it, until an operator enters it', async () => {
  const payment = await scene.paid();
  const { db } = scene.dashboard.scene.admin;
  await db.script(`set session_replication_role = replica;
    update transfers set amount = amount - 1 where payment_id = '${payment.id}'; set session_replication_role = origin`);
  // The comparison with the chain is part of it.
  const found = (await command('doctor', '--deep')).json.findings;
  const told = (name: string) => found.find(({ check }: { check: string }) => check === name).detail;
  expect(told('ledger')).toMatch(/^(?:open differences: 1|differences that wait until their block is final: 1)/);
  const { code, json } = await command('ledger', 'check');
  expect(code).toBe(1);
  expect(json.differences).toMatchObject([{ paymentId: payment.id, amount: '1', address: payment.address }]);

  const { differences } = await scene.owner.do('GET /settlement');
  expect(differences).toMatchObject([{ paymentId: payment.id, amount: '0.000001 USDC', network: expect.any(String) }]);
  expect((await scene.owner.do('GET /home', { query: { days: 7 } })).differences).toBe(1);
  const doctor = await command('doctor', '--deep');
  expect(doctor.code).toBe(1);
  const detailOf = (name: string) => doctor.json.findings.find(({ check }: { check: string }) => check === name).detail;
  expect(detailOf('ledger')).toContain('open differences: 1');
  expect(detailOf('ledger facts')).toContain('received to forwarders is');

  const reason = 'Seeded by a test.';
  const corrected = await command(
    'ledger',
    'correct',
    json.differences[0].id,
    '--amount',
    '1',
    '--reason',
    reason,
    '--by',
    'Ada',
  );
  expect(corrected).toMatchObject({ code: 0, json: { paymentId: payment.id, amount: '1', by: 'Ada', reason } });
  expect((await auditRows(scene.dashboard.scene, scene.account.id)).at(-1)).toMatchObject({
    action: 'ledger.corrected',
    subject: payment.id,
    detail: { amount: '1', by: 'Ada', reason },
  });
  expect((await command('ledger', 'differences')).json).toEqual({ data: [] });
  expect((await scene.owner.do('GET /settlement')).differences).toEqual([]);
});

test('a transfer that is wrongly marked as a stray is found', async () => {
  const payment = await scene.paid();
  const { db } = scene.dashboard.scene.admin;
  // What does not count cannot be settled.
  const mark = (isStray: boolean) =>
    db.script(`set session_replication_role = replica;
      update transfers set stray = ${isStray}, settled = ${!isStray} where payment_id = '${payment.id}';
      set session_replication_role = origin`);
  await mark(true);
  const detail = `1 transfers of ${payment.id} are wrongly marked as strays, or wrongly not`;
  expect(await examineRecords(db)).toEqual({ ok: false, detail });
  await mark(false);
  expect(await examineRecords(db)).toMatchObject({ ok: true });
});
