// @module-tag thorough
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyWallets } from '../../src/engine/chain/verifyRecords.ts';
import { expectError } from '../api/paymentCalls.ts';
import { until } from '../support/until.ts';
import { otherTreasury, startWalletScene, treasury } from './walletScene.ts';

let wallets: Awaited<ReturnType<typeof startWalletScene>>;
beforeAll(async () => {
  wallets = await startWalletScene();
  await wallets.owner.prove();
  await wallets.request({ treasury });
  await wallets.paysToSoon(treasury);
});
beforeEach(async () => {
  await wallets.owner.prove();
  wallets.errors.length = 0;
});

const thief = '0xbadc0debadc0debadc0debadc0debadc0debadc0d';
const production = { environment: 'production' } as const;
const sql = (text: string) => wallets.scene.admin.db.script(text);
const mine = () => `account_id = '${wallets.accountId}' and environment = 'production' and network = 'ethereum'`;
const latest = () => `${mine()} and version = (select max(version) from wallets where ${mine()})`;
const dayAgo = `takes_effect_at = clock_timestamp() - interval '1 second', created_at = created_at - interval '2 days'`;

const alarms = () => wallets.errors.filter(each => each.message === 'a wallet does not match its seal');

/** Payments use the old treasury until the change is due; then creation fails, and the log says why. */
const expectRefused = async (): Promise<void> => {
  const refused = await until(
    () => wallets.live.create({ amount: '25', currency: 'USDC', network: 'ethereum' }),
    answer => answer.status !== 200,
  );
  expectError(refused, 500, 'internal_error');
  expect(refused.text.toLowerCase()).not.toContain(thief.toLowerCase());
  expect(alarms().map(each => each.fields)).toContainEqual(
    expect.objectContaining({ accountId: wallets.accountId, network: 'ethereum', version: expect.any(Number) }),
  );
  const text = `select 1 as one from payments where lower(treasury) = lower($1)`;
  expect(await wallets.scene.admin.db.query({ name: 'test-stolen', text }, [thief])).toEqual([]);
};

/** Deletes the tampered rows, so that payments go to the first treasury again. */
const repair = async (): Promise<void> => {
  await sql(`delete from wallet_stops where ${mine()}; delete from wallet_approvals where ${mine()};
    delete from wallets where ${mine()} and version > 1`);
  await wallets.paysToSoon(treasury);
};

describe('a change that waits is refused at the moment of its effect, with an alarm, where somebody changed', () => {
  const tamperings: readonly (readonly [string, string])[] = [
    ['its destination', `destination = '${thief}', ${dayAgo}`],
    ['its time', dayAgo],
    ['its time, to that of one which never waited', 'takes_effect_at = null'],
    ['its kind', `kind = 'xpub', ${dayAgo}`],
    ['its seal', `mac = decode(repeat('00', 32), 'hex'), ${dayAgo}`],
    ['its version', `version = version + 1, ${dayAgo}`],
  ];
  test.each(tamperings)('%s', async (_, assignment) => {
    expect((await wallets.request({ treasury: otherTreasury })).status).toBe(200);
    expect(await wallets.paysTo()).toBe(treasury);
    expect((await verifyWallets(wallets.scene.admin)).problems).toEqual([]);
    await sql(`delete from wallet_approvals where ${mine()}; update wallets set ${assignment} where ${latest()}`);
    await expectRefused();
    expect((await verifyWallets(wallets.scene.admin)).problems).toEqual([expect.stringContaining('ethereum')]);
    // The dashboard does not show a tampered address for confirmation.
    expectError(await wallets.owner.call('GET /wallets', production), 500, 'internal_error');
    await repair();
  });
});

test('a row put straight into the database is not used', async () => {
  await sql(`insert into wallets (account_id, environment, network, version, kind, destination, mac, seal)
    select account_id, environment, network, 99, kind, '${thief}', mac, 2 from wallets where ${latest()}`);
  await expectRefused();
  await repair();
});

test('a change that was stopped cannot be put in again', async () => {
  const { json } = await wallets.request({ treasury: otherTreasury });
  const params = { id: json.pending!.id };
  await wallets.owner.do('POST /wallet-changes/:id/stop', { ...production, params });
  await sql(`insert into wallets (account_id, environment, network, version, kind, destination, mac, created_at, takes_effect_at, seal)
    select account_id, environment, network, version + 1, kind, destination, mac, created_at - interval '2 days',
      clock_timestamp() - interval '1 second', seal from wallets where ${latest()}`);
  await expectRefused();
  await repair();
});

describe('an older wallet is not put back in force', () => {
  const copyFirst = (seal: string) =>
    sql(`insert into wallets (account_id, environment, network, version, kind, destination, mac, seal)
      select account_id, environment, network, 3, kind, destination, mac, ${seal} from wallets
      where ${mine()} and version = 1`);
  const changed = async (): Promise<void> => {
    await wallets.request({ treasury: otherTreasury });
    await wallets.bringForward();
    await wallets.paysToSoon(otherTreasury);
  };

  test('by a copy of its row under a later number', async () => {
    await changed();
    await copyFirst('2');
    await expectRefused();
    expect((await verifyWallets(wallets.scene.admin)).problems).toEqual([expect.stringContaining('version 3')]);
    await repair();
  });

  test('by a stop of the one that is in force', async () => {
    await changed();
    await sql(`insert into wallet_stops (account_id, environment, network, version, stopped_by)
      select account_id, environment, network, version, 'Nobody' from wallets where ${latest()}`);
    const { data } = await wallets.owner.do('GET /wallets', production);
    expect(data).toContainEqual(expect.objectContaining({ network: 'ethereum', destination: otherTreasury }));
    await wallets.paysToSoon(otherTreasury);
    await repair();
  });

  test('by a copy of one whose seal has no number, while that one is good where it is', async () => {
    const { accountId } = wallets;
    const fields = { accountId, ...production, network: 'ethereum', kind: 'forwarder', destination: treasury };
    const mac = wallets.scene.admin.vault.walletMac(fields).toString('hex');
    // As after the migration: the check applies to later rows only.
    const rule =
      'alter table wallets add constraint wallets_seal_check check (seal = 2 or row_seal is not null) not valid';
    await sql(`alter table wallets drop constraint wallets_seal_check;
      update wallets set seal = 1, mac = decode('${mac}', 'hex') where ${mine()}; ${rule}`);
    expect((await verifyWallets(wallets.scene.admin)).problems).toEqual([]);
    await wallets.paysToSoon(treasury);
    await changed();
    await expect(copyFirst('1')).rejects.toThrow('wallets_seal_check');
    await copyFirst('2');
    await expectRefused();
    await repair();
  });
});

test('while it waits, a change that was tampered with is shown, raises an alarm, and can be stopped', async () => {
  const { json } = await wallets.request({ treasury: otherTreasury });
  await sql(`update wallets set destination = '${thief}' where ${latest()}`);
  const { walletChanges } = await wallets.owner.do('GET /announcements');
  expect(walletChanges).toEqual([expect.objectContaining({ id: json.pending!.id })]);
  expect(alarms()).not.toEqual([]);
  expect((await wallets.owner.call('GET /wallets', production)).status).toBe(200);
  await wallets.owner.do('POST /wallet-changes/:id/stop', { ...production, params: { id: json.pending!.id } });
  expect(await wallets.paysTo()).toBe(treasury);
  await repair();
});
