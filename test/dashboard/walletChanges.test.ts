import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectError } from '../api/paymentCalls.ts';
import { until } from '../support/until.ts';
import { auditRows } from './auditRows.ts';
import { otherTreasury, startWalletScene, treasury } from './walletScene.ts';

let wallets: Awaited<ReturnType<typeof startWalletScene>>;
beforeAll(async () => {
  wallets = await startWalletScene();
  await wallets.owner.prove();
  const first = await wallets.request({ treasury });
  expect(first.json, first.text).toMatchObject({
    wallet: {
      network: 'ethereum',
      kind: 'forwarder',
      destination: treasury,
      version: 1,
      verifiedAt: null,
      pending: null,
    },
    pending: null,
  });
  await wallets.paysToSoon(treasury);
});
beforeEach(() => wallets.owner.prove());

const third = '0x0000000000000000000000000000000000C0FFEE';
const production = { environment: 'production' } as const;
const waits = async (destination: string) => {
  const answer = await wallets.request({ treasury: destination });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.pending!;
};
const stop = (id: string) => wallets.owner.call('POST /wallet-changes/:id/stop', { ...production, params: { id } });
const shown = async () => {
  const { data } = await wallets.owner.do('GET /wallets', production);
  return data.find(each => each.network === 'ethereum')!;
};
const announced = async () => (await wallets.owner.do('GET /announcements')).walletChanges;
const audited = async () => (await auditRows(wallets.scene, wallets.accountId)).map(row => row.action);

describe('a change of the treasury', () => {
  test('waits a day, is announced to everybody, and touches no payment that exists', async () => {
    const old = await wallets.live.made({ network: 'ethereum' });
    const change = await waits(otherTreasury);
    expect(change).toEqual({
      id: expect.any(String),
      network: 'ethereum',
      kind: 'forwarder',
      destination: otherTreasury,
      requestedAt: expect.any(String),
      requestedBy: 'Owner 1 <owner1@example.com>',
      takesEffectAt: new Date(Date.parse(change.requestedAt) + 24 * 3_600_000).toISOString(),
      approvals: [{ personId: wallets.owner.personId, name: 'Owner 1 <owner1@example.com>' }],
      holdsOwners: true,
    });
    expect(await shown()).toMatchObject({ destination: treasury, version: 1, pending: change });
    const viewer = await wallets.dashboard.as('viewer');
    expect((await viewer.do('GET /announcements')).walletChanges).toEqual([{ ...change, environment: 'production' }]);
    expect(await wallets.paysTo()).toBe(treasury);

    await wallets.bringForward();
    await wallets.paysToSoon(otherTreasury);
    expect(await shown()).toMatchObject({ destination: otherTreasury, version: 2, pending: null });
    expect(await announced()).toEqual([]);
    expect((await wallets.live.read(old.id)).json).toEqual(old);
    const rows = { name: 'test-old', text: 'select treasury from payments where id = $1' };
    expect(await wallets.scene.admin.db.query(rows, [old.id])).toEqual([{ treasury }]);
    const rowsOfIt = (await auditRows(wallets.scene, wallets.accountId)).filter(row => row.subject === 'ethereum');
    // Florin notices by itself when it comes into force.
    expect(rowsOfIt.findLast(({ actor }) => actor !== 'Florin')).toEqual({
      action: 'wallet.change_requested',
      subject: 'ethereum',
      environment: 'production',
      actor: 'Owner 1 <owner1@example.com>',
      detail: {
        kind: 'forwarder',
        destination: otherTreasury,
        version: 2,
        before: treasury,
        takesEffectAt: change.takesEffectAt,
      },
    });
  });

  test('can be stopped without a proof, and then never takes effect', async () => {
    const before = (await shown()) as { destination: string };
    const change = await waits(third);
    await wallets.owner.unprove();
    const admin = await wallets.dashboard.as('admin');
    const stopping = { ...production, params: { id: change.id } };
    expect(await admin.do('POST /wallet-changes/:id/stop', stopping)).toEqual({ done: true });
    expect((await audited()).at(-1)).toBe('wallet.change_stopped');
    expect(await shown()).toMatchObject({ destination: before.destination, pending: null });
    expect(await announced()).toEqual([]);
    await wallets.bringForward();
    expect(await shown()).toMatchObject({ destination: before.destination, pending: null });
    expect(await wallets.paysTo()).toBe(before.destination);
    expectError(await stop(change.id), 404, 'not_found');
  });

  test('is stopped by nobody who may not change wallets, and in no other environment or account', async () => {
    const change = await waits(third);
    const params = { id: change.id };
    for (const role of ['developer', 'finance', 'support', 'viewer'] as const) {
      const person = await wallets.dashboard.as(role);
      expectError(
        await person.call('POST /wallet-changes/:id/stop', { ...production, params }),
        403,
        'permission_denied',
      );
    }
    const sandbox = await wallets.owner.call('POST /wallet-changes/:id/stop', { environment: 'sandbox', params });
    expectError(sandbox, 404, 'not_found');
    const stranger = await wallets.dashboard.newPerson('owner', (await wallets.scene.account()).id);
    expectError(await stranger.call('POST /wallet-changes/:id/stop', { ...production, params }), 404, 'not_found');
    expect((await stranger.do('GET /announcements')).walletChanges).toEqual([]);
    expect(await announced()).toHaveLength(1);
    await stop(change.id);
  });

  test('is the only one of its network: the next is refused until it is stopped', async () => {
    const change = await waits(third);
    const second = await wallets.request({ treasury });
    expectError(second, 409, 'conflict');
    expect(second.json.error!.message).toContain('Stop it first');
    expect((await announced()).map(each => each.destination)).toEqual([third]);
    await stop(change.id);
    await stop((await waits(treasury)).id);
  });

  test('asked for twice at the same time waits once', async () => {
    await wallets.passDayAfterStop();
    const answers = await Promise.all([wallets.ask({ treasury: third }), wallets.ask({ treasury: third })]);
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 409]);
    const [change] = await announced();
    await stop(change!.id);
  });

  test('to where money goes already is refused', async () => {
    const { destination } = (await shown()) as { destination: string };
    expectError(await wallets.request({ treasury: destination.toLowerCase() }), 409, 'conflict');
  });

  test('cannot be stopped once it is in force', async () => {
    const change = await waits(third);
    await wallets.bringForward();
    expectError(await stop(change.id), 404, 'not_found');
    await wallets.paysToSoon(third);
  });

  test('is not told as stopped when its time comes while the stop waits for the log', async () => {
    const change = await waits(treasury);
    const { db } = wallets.scene.admin;
    const waiting = {
      name: 'test-lock-waits',
      text: `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    };
    const stopped = await db.transaction(async tx => {
      const head = 'select from audit_heads where account_id = $1 for update';
      await tx.query({ name: 'test-hold-log', text: head }, [wallets.accountId]);
      const asked = stop(change.id);
      await until(
        () => db.query(waiting),
        rows => rows.length > 0,
      );
      await wallets.bringForward('ethereum', tx);
      return { asked };
    });
    expectError(await stopped.asked, 404, 'not_found');
    expect(await shown()).toMatchObject({ destination: treasury, pending: null });
    await wallets.paysToSoon(treasury);
    expect((await audited()).filter(action => action !== 'wallet.change_in_force').at(-1)).toBe(
      'wallet.change_requested',
    );
  });

  test('needs a fresh proof', async () => {
    await wallets.owner.unprove();
    expectError(await wallets.request({ treasury }), 403, 'permission_denied', 'secondFactor');
    expect(await announced()).toEqual([]);
  });
});

test('an id that no change has is not found', async () => {
  for (const id of ['ethereum', 'ethereum-0', 'ethereum-99', '-1', "ethereum-1'", 'polygon-1']) {
    expectError(await stop(id), 404, 'not_found');
  }
});

test('in the sandbox a change is in force at once', async () => {
  const answer = await wallets.request({ treasury: otherTreasury }, 'sandbox');
  expect(answer.json, answer.text).toMatchObject({
    wallet: { destination: otherTreasury, version: 2, pending: null },
    pending: null,
  });
  expect((await audited()).at(-1)).toBe('wallet.set');
});

test('a wallet that the audit log knows is not the first one, although the tables have no other', async () => {
  const mine = `account_id = '${wallets.accountId}' and environment = 'production' and network = 'ethereum'`;
  await wallets.scene.admin.db.script(
    ['wallet_stops', 'wallet_approvals', 'wallet_verifications', 'wallet_effects', 'wallets']
      .map(table => `delete from ${table} where ${mine}`)
      .join('; '),
  );
  const body = { network: 'ethereum', treasury: third };
  const preview = await wallets.owner.do('POST /wallets/preview', { ...production, body });
  expect(preview.waitsHours).toBe(24);
  const { json, text } = await wallets.request({ treasury: third });
  expect(json, text).toMatchObject({ wallet: null, pending: { destination: third } });
  expect((await audited()).at(-1)).toBe('wallet.change_requested');
});
