import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { type Config, loadConfig } from '../../src/cli/config.ts';
import { type Florin, startFlorin, type Tuning } from '../../src/cli/florin.ts';
import { type Permission, permissions } from '../../src/core/access/rights.ts';
import type { Environment } from '../../src/core/environment.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import type { Plan } from '../../src/core/plans.ts';
import { type AdminContext, createAccount } from '../../src/engine/access/accounts.ts';
import { asFlorin } from './asFlorin.ts';
import { createClient, type TestClient } from './client.ts';
import { cloneDatabase } from './databases.ts';
import { atEndOfFile } from './endOfFile.ts';
import { createKey } from './operator.ts';

export type TestFlorin = {
  readonly florin: Florin;
  readonly config: Config;
  readonly admin: AdminContext;
  /** Changes the database as a thief would: without seals. */
  tamper(sql: string): Promise<void>;
  readonly client: TestClient;
  /** A new account with one key an environment; limits wide enough to stay out of the way unless a plan is named. */
  account(options?: { plan?: Plan; rateLimit?: number; burst?: number; name?: string }): Promise<TestAccount>;
  key(
    accountId: string,
    environment: Environment,
    scopes?: readonly Permission[],
  ): Promise<{ id: string; key: string }>;
  stop(): Promise<void>;
};

export type TestAccount = { id: string; keys: Record<Environment, string>; keyIds: Record<Environment, string> };

/** A fifth of the ordinary, so that payments are final sooner; long enough to see each state on the way. */
const emptyBlockIntervalMs = 200;

/**
 * A whole Florin on a database of its own, real listeners on loopback and a dev chain, as `npm start` would run it. It
 * stops at the end of the test file at the latest, also where its start fails half-way. It delivers only where a test asks
 * for that: receivers of other tests have names that must not be resolved.
 */
export const startTestFlorin = async (
  options: {
    env?: Record<string, string>;
    configFile?: object;
    log?: Log;
    live?: Tuning['live'];
    keepAuditHeadsMs?: number;
    limitBudgetMs?: number;
    /** Exports have a database URL of their own, which leads to the same database. */
    hasReadUrl?: boolean;
  } = {},
): Promise<TestFlorin> => {
  const started = new AsyncDisposableStack();
  const stop = (): Promise<void> => started.disposeAsync();
  atEndOfFile(stop);
  const room = await mkdtemp(join(tmpdir(), 'florin-'));
  started.defer(() => rm(room, { recursive: true, force: true }));
  if (options.configFile) await writeFile(join(room, 'florin.config.json'), JSON.stringify(options.configFile));
  const database = await cloneDatabase();
  const env = { FLORIN_ROLES: 'api,watch', FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0', ...options.env };
  const reads: Record<string, string> = options.hasReadUrl ? { FLORIN_READ_DATABASE_URL: database.url } : {};
  const config = await loadConfig({ env: { DATABASE_URL: database.url, ...reads, ...env }, cwd: room });
  const florin = await startFlorin(config, options.log ?? silentLog, undefined, {
    ...(options.live ? { live: options.live } : {}),
    keepAuditHeadsMs: options.keepAuditHeadsMs,
    limitBudgetMs: options.limitBudgetMs,
    emptyBlockIntervalMs,
  });
  started.defer(florin.stop);
  const storage = await openStorage(config, silentLog);
  started.defer(storage.stop);
  const opened = await openAdmin(config, storage);
  const admin = { ...opened, db: asFlorin(opened) };
  const client = await createClient(florin);
  started.defer(client.close);

  const key: TestFlorin['key'] = (accountId, environment, scopes = permissions) =>
    createKey(admin, { accountId, environment, name: 'test', scopes, ipAllow: null, expiresAt: null });

  return {
    florin,
    config,
    admin,
    tamper: sql => opened.db.script(sql),
    client,
    key,
    async account({ plan = 'enterprise', rateLimit, burst, name = 'Test' } = {}) {
      const custom = plan === 'enterprise';
      const account = await createAccount(admin, {
        name,
        plan,
        rateLimit: custom ? (rateLimit ?? 10_000_000) : null,
        burst: custom ? (burst ?? 10_000_000) : null,
      });
      const [production, sandbox] = [await key(account.id, 'production'), await key(account.id, 'sandbox')];
      return {
        id: account.id,
        keys: { production: production.key, sandbox: sandbox.key },
        keyIds: { production: production.id, sandbox: sandbox.id },
      };
    },
    stop,
  };
};
