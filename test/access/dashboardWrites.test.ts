// @module-tag thorough
import { beforeAll, describe, expect, test } from 'vitest';
import { mayDo, type rights, roles } from '../../src/core/access/rights.ts';
import { createNetworkDirectory } from '../../src/engine/chain/networkDirectory.ts';
import type { Context } from '../../src/engine/context.ts';
import { allDashboardRoutes } from '../../src/http/dashboard/allRoutes.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { actorRows } from './actorRows.ts';
import { type Sample, type Stage, type WriteName, writeSamples } from './writeSamples.ts';

let dashboard: TestDashboard;
let actions: Map<string, string>;

beforeAll(async () => {
  dashboard = await startDashboard();
  const { admin } = dashboard.scene;
  const networks = createNetworkDirectory(admin.db, [], () => performance.now());
  // Only the tables of routes are read; the calls go to the running Florin.
  const context = { ...admin, listDb: admin.db, networks } as unknown as Context;
  const routes = allDashboardRoutes(context, () => Promise.reject(new Error('not called')));
  actions = new Map(routes.map(({ name, action }) => [name, action]));
});

const logOf = (accountId: string) => actorRows(dashboard.scene, accountId);

/** Makes a call, and returns its status and what the person added to the audit log by it. */
const attempt = async (stage: Stage, name: WriteName, sample: Extract<Sample, { rows: 0 | 1 }>) => {
  const sending = await sample.prepare(stage);
  await stage.person.prove();
  const before = (await logOf(stage.accountId)).length;
  const { status, text } = await stage.person.call(name, sending);
  const rows = (await logOf(stage.accountId)).slice(before);
  return { status, text, own: rows.filter(row => row.id === stage.person.personId), rows };
};

const samples = Object.entries(writeSamples) as [WriteName, Sample][];

describe('every write of the dashboard, by every role', () => {
  test.each(roles)(
    '%s: done and recorded once where the table permits it, else refused and not recorded',
    async role => {
      const { id: accountId } = await dashboard.scene.account();
      const owner = await dashboard.newPerson('owner', accountId);
      await owner.prove();
      const wrong: string[] = [];
      for (const [name, sample] of samples) {
        if ('provenIn' in sample) continue;
        const person: DashboardClient = await dashboard.newPerson(role, accountId);
        const { status, text, own, rows } = await attempt({ dashboard, accountId, owner, person }, name, sample);
        const action = actions.get(name)!;
        const isPermitted = action === 'signed-in' || mayDo(role, action as keyof typeof rights);
        const wanted = isPermitted ? { status: 200, rows: sample.rows } : { status: 403, rows: 0 };
        if (status !== wanted.status)
          wrong.push(`${name}: ${status} instead of ${wanted.status}: ${text.slice(0, 200)}`);
        else if (own.length !== wanted.rows)
          wrong.push(`${name}: ${own.length} rows instead of ${wanted.rows}: ${JSON.stringify(rows)}`);
      }
      expect(wrong).toEqual([]);
    },
  );

  test('every one has a sample, and a public one makes a session', () => {
    const writes = [...actions].filter(([name]) => !name.startsWith('GET '));
    const missing = writes.filter(([name, action]) => action !== 'public' && !(name in writeSamples));
    expect(missing).toEqual([]);
    expect(samples.map(([name]) => name).filter(name => !actions.has(name))).toEqual([]);
  });
});
