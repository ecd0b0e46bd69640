import type { Log } from '../../src/core/log.ts';
import { silentMeter } from '../../src/core/meter.ts';
import { createNetworkDirectory } from '../../src/engine/chain/networkDirectory.ts';
import type { Context } from '../../src/engine/context.ts';
import { primaryOnly } from '../../src/storage/exportSource.ts';
import { type Wanted, type Written, writePayments } from '../api/listingScene.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';

export type LogLine = { fields: Record<string, unknown>; message: string };

export type QuietScene = {
  readonly scene: TestFlorin;
  readonly context: Context;
  readonly errors: LogLine[];
  read<R extends Record<string, unknown>>(sql: string): Promise<R[]>;
  /** Marks a chain as read up to now, with the addresses whose time is over; by default the local one. */
  caughtUp(caip2?: string): Promise<void>;
  /** Creates payments of a new account, an hour past their expiry, whose addresses have been read since. */
  overdue(
    count: number,
    contract?: string | null,
  ): Promise<{ account: TestAccount; ids: string[]; written: Written[] }>;
  /** Connects as the database owner, without its guard. */
  tamper(id: string, assignment: string): Promise<void>;
  statuses(accountId: string): Promise<Record<string, number>>;
};

const hourMs = 3_600_000;
const unreachable = (): never => {
  throw new Error('nothing is sent here');
};

/** A Florin that serves the API without workers. Tests do their work explicitly. */
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
      exportSource: primaryOnly(db),
      localChain: null,
      networks: createNetworkDirectory(db, [], () => performance.now()),
      environments: { production: settings, sandbox: settings },
      dashboard: { url: settings.publicUrl, isAlone: false, mayAddAccounts: false },
      sendMail: null,
      deliver: unreachable,
      estimateGas: unreachable,
      callContract: unreachable,
      readCode: unreachable,
      refuseUrl: unreachable,
      backups: unreachable,
      derivationIndexes: { next: unreachable },
      restoreState: unreachable,
      keptHours: 24,
      keyUses: { note: unreachable, flush: unreachable },
      log,
      meter: silentMeter,
    },
    errors,
    read,
    caughtUp: (caip2 = 'eip155:31337') =>
      db.script(`insert into chains (caip2, caught_up_at, coins_caught_up_at)
        values ('${caip2}', clock_timestamp(), clock_timestamp())
        on conflict (caip2) do update set caught_up_at = clock_timestamp(), coins_caught_up_at = clock_timestamp();
        update payments set balance_checked_at = clock_timestamp(), awaits_read = false
        where caip2 = '${caip2}' and least(expires_at, time_ended_at) <= clock_timestamp()`),
    async overdue(count, contract = null) {
      const account = await scene.account();
      const createdMs = Date.now() - 2 * hourMs;
      const one: Wanted = { createdMs, currency: 'ETH', network: 'base', status: 'pending', contract };
      const written = await writePayments(
        scene,
        account,
        Array.from({ length: count }, () => one),
      );
      const ids = written.map(({ id }) => id);
      await db.script(
        `update payments set balance_checked_at = clock_timestamp(), awaits_read = false where id in ('${ids.join("', '")}')`,
      );
      return { account, ids, written };
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
