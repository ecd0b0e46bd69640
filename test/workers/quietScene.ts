import type { Log } from '../../src/core/log.ts';
import type { Context } from '../../src/engine/context.ts';
import { createNetworkDirectory } from '../../src/engine/networkDirectory.ts';
import { writeNetworkStatus } from '../../src/storage/networkStatus.ts';
import { type Wanted, type Written, writePayments } from '../api/listingScene.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';

export type LogLine = { fields: Record<string, unknown>; message: string };

export type QuietScene = {
  readonly scene: TestFlorin;
  readonly context: Context;
  readonly errors: LogLine[];
  read<R extends Record<string, unknown>>(sql: string): Promise<R[]>;
  /** The chain of this slug has been read up to now. */
  caughtUp(network: string, caip2?: string): Promise<void>;
  /** So many payments of a new account, an hour past their time. */
  overdue(count: number, network?: string): Promise<{ account: TestAccount; ids: string[]; written: Written[] }>;
  /** As the owner of the database, past its own guard. */
  tamper(id: string, assignment: string): Promise<void>;
  statuses(accountId: string): Promise<Record<string, number>>;
};

const hourMs = 3_600_000;
const unreachable = (): never => {
  throw new Error('nothing is sent here');
};

/** A Florin that serves the API and watches nothing: what its workers would do, a test does when it wants to. */
export const startQuietScene = async (): Promise<QuietScene> => {
  const scene = await startTestFlorin({ env: { FLORIN_ROLES: 'api' } });
  const errors: LogLine[] = [];
  const nothing = (): void => {};
  const log: Log = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (fields, message) => void errors.push({ fields: { ...fields }, message }),
  };
  const { db } = scene.admin;
  const settings = { publicUrl: 'https://f.example', checkoutUrl: 'https://f.example/checkout', allowLoopback: true };
  const read: QuietScene['read'] = sql => db.query({ name: '', text: sql });
  return {
    scene,
    context: {
      ...scene.admin,
      listDb: db,
      networks: createNetworkDirectory(db, [], () => performance.now()),
      environments: { production: settings, sandbox: settings },
      deliver: unreachable,
      refuseUrl: unreachable,
      log,
    },
    errors,
    read,
    caughtUp: (network, caip2 = 'eip155:31337') =>
      writeNetworkStatus(db, {
        environment: 'sandbox',
        network,
        caip2,
        status: 'operational',
        reason: null,
        latestBlock: 1n,
        lagSeconds: 0,
        caughtUpAt: new Date(),
      }),
    async overdue(count, network = 'base') {
      const account = await scene.account();
      const one: Wanted = { createdMs: Date.now() - 2 * hourMs, currency: 'ETH', network, status: 'pending' };
      const written = await writePayments(
        scene,
        account,
        Array.from({ length: count }, () => one),
      );
      return { account, ids: written.map(({ id }) => id), written };
    },
    tamper: (id, assignment) =>
      db.script(`begin; alter table payments disable trigger payments_frozen;
        update payments set ${assignment} where id = '${id}';
        alter table payments enable trigger payments_frozen; commit`),
    async statuses(accountId) {
      const rows = await read<{ status: string; n: number }>(
        `select status, count(*)::int as n from payments where account_id = '${accountId}' group by 1`,
      );
      return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
    },
  };
};
