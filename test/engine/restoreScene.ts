import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createDevPayer } from '../../src/chains/evm/devPayer.ts';
import { openAdmin, openStorage } from '../../src/cli/compose.ts';
import { loadConfig } from '../../src/cli/config.ts';
import { startFlorin, type Tuning } from '../../src/cli/florin.ts';
import { permissions } from '../../src/core/access/rights.ts';
import { silentLog } from '../../src/core/log.ts';
import { createAccount } from '../../src/engine/access/accounts.ts';
import type { Row } from '../../src/storage/database.ts';
import { listUnclaimed, type UnclaimedRow } from '../../src/storage/settlement/unclaimed.ts';
import { createClient } from '../support/client.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { createKey } from '../support/operator.ts';
import { until } from '../support/until.ts';

/** Created after the backup, and again after the restore. A longer drill sets its own number. */
export const many = Number(process.env.RESTORE_PAYMENTS ?? 300);
const order = { amount: '5', currency: 'USDC' };

/** An extended public key for payments on polygon. */
export const xpub =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';

export const makeRoom = async (): Promise<string> => {
  const room = await mkdtemp(join(tmpdir(), 'florin-restored-'));
  atEndOfFile(() => rm(room, { recursive: true, force: true }));
  return room;
};

/** A whole Florin on its own chain, as `npm start` runs it, on its embedded database unless another one is named. */
export const startIn = async (room: string, databaseUrl?: string, tuning: Tuning = {}) => {
  const database: Record<string, string> = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl };
  const env = { FLORIN_ROLES: 'api,watch', FLORIN_PORT: '0', FLORIN_SANDBOX_PORT: '0', ...database };
  const config = await loadConfig({ env, cwd: room });
  const florin = await startFlorin(config, silentLog, undefined, tuning);
  const started = new AsyncDisposableStack();
  started.defer(florin.stop);
  atEndOfFile(() => started.disposeAsync());
  const storage = await openStorage(config, silentLog);
  started.defer(storage.stop);
  const admin = await openAdmin(config, storage);
  const client = await createClient(florin);
  started.defer(client.close);
  const create = async (key: string, environment: 'sandbox' | 'production' = 'sandbox', network = 'base') =>
    client.call('POST', '/v1/payments', { key, environment, body: { ...order, network } });
  const rows = <R extends Row>(text: string) => admin.db.query<R>({ name: '', text });
  return {
    admin,
    create,
    /** Pays what each order asks for. Returns the transaction and the token. */
    async pay(address: string): Promise<{ txHash: string; contract: string }> {
      const { port } = JSON.parse(await readFile(join(config.dataDir, 'devchain.json'), 'utf8')) as { port: number };
      const [row] = await rows<{ contract: string }>('select contract from payments limit 1');
      const payer = createDevPayer(`http://127.0.0.1:${port}`);
      const txHash = await payer.pay({ to: address, token: row!.contract, amount: 5_000_000n });
      return { txHash, contract: row!.contract };
    },
    rows,
    unclaimed: () => listUnclaimed(admin.db, null, 10),
    firstUnclaimed: async (): Promise<UnclaimedRow> =>
      (
        await until(
          () => listUnclaimed(admin.db, null, 10),
          found => found.length > 0,
        )
      )[0]!,
    async createMany(key: string, network = 'base'): Promise<string[]> {
      const addresses: string[] = [];
      let begun = 0;
      const work = Array.from({ length: 64 }, async () => {
        while (begun++ < many) {
          const { status, text, json } = await create(key, 'sandbox', network);
          expect(status, text).toBe(200);
          addresses.push(json.address);
        }
      });
      await Promise.all(work);
      return addresses;
    },
    /** A payment of the running process completes, and is not taken for a lost one beside the one that is. */
    async completesOwn(key: string): Promise<void> {
      const { json: own } = await create(key);
      await this.pay(own.address);
      const status = async () =>
        (await rows<{ status: string }>(`select status from payments where id = '${own.id}'`))[0]!.status;
      await until(status, each => each === 'completed');
      expect(await this.unclaimed()).toHaveLength(1);
    },
    stop: () => started.disposeAsync(),
  };
};

/** An account with one payment. */
export const prepare = async (room: string, databaseUrl?: string) => {
  const florin = await startIn(room, databaseUrl);
  const account = await createAccount(florin.admin, {
    name: 'Shop',
    plan: 'enterprise',
    rateLimit: 10_000_000,
    burst: 10_000_000,
  });
  const key = (environment: 'sandbox' | 'production') =>
    createKey(florin.admin, { accountId: account.id, environment, name: 'test', scopes: permissions, ipAllow: null, expiresAt: null }); // biome-ignore format: one call
  const keys = { sandbox: (await key('sandbox')).key, production: (await key('production')).key };
  expect((await florin.create(keys.sandbox)).status).toBe(200);
  await florin.stop();
  return { accountId: account.id, keys };
};

export const epochsOf = async (room: string): Promise<string[]> =>
  (await readFile(join(room, 'data', 'derivation-epochs'), 'utf8')).trim().split('\n');
