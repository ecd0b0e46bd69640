import { createIds, monotonicMs, networksOf } from '../src/cli/compose.ts';
import { loadConfig } from '../src/cli/config.ts';
import type { Log } from '../src/core/log.ts';
import { silentMeter } from '../src/core/meter.ts';
import { createNetworkDirectory } from '../src/engine/chain/networkDirectory.ts';
import type { Context } from '../src/engine/context.ts';
import { keepingSeals } from '../src/engine/seals/sealKeeper.ts';
import type { PostgresConnection } from '../src/local/postgres/startPostgres.ts';
import { openDatabase } from '../src/storage/database.ts';
import { createDatabaseClock } from '../src/storage/databaseClock.ts';
import { primaryOnly } from '../src/storage/exportSource.ts';
import { createFloors } from '../src/storage/floors.ts';
import { loadMasterKey } from '../src/vault/masterKey.ts';
import { createVault } from '../src/vault/vault.ts';

const unreachable = (): never => {
  throw new Error('the bench does not send anything');
};

/** A context for Florin's workers, on a database that the bench chooses and with the keys of the scene. */
export const openContext = async (options: {
  dataDir: string;
  service: PostgresConnection;
  rpcUrl: string | null;
  log: Log;
}): Promise<Context> => {
  const { dataDir, service, rpcUrl, log } = options;
  const config = await loadConfig({ flags: { dataDir } });
  const db = openDatabase(service, { log });
  const vault = createVault(await loadMasterKey({ dataDir }));
  const floors = createFloors();
  db.keepSeals(keepingSeals(vault, log, floors));
  const clock = createDatabaseClock(db, { monotonicMs, wallMs: Date.now });
  await clock.synchronize();
  const settings = { publicUrl: 'https://localhost', checkoutUrl: 'https://localhost/checkout', allowLoopback: true };
  return {
    db,
    listDb: db,
    exportSource: primaryOnly(db),
    clock,
    ids: createIds(),
    vault,
    floors,
    isFinished: () => true,
    networks: createNetworkDirectory(db, networksOf(config, rpcUrl), monotonicMs),
    localChain: null,
    environments: { production: settings, sandbox: settings },
    dashboard: { url: settings.publicUrl, isAlone: false, mayAddAccounts: false },
    sendMail: null,
    deliver: unreachable,
    estimateGas: unreachable,
    callContract: unreachable,
    readCode: unreachable,
    refuseUrl: unreachable,
    backups: async () => null,
    derivationIndexes: { next: unreachable },
    restoreState: async () => ({ gate: 'open', inReview: new Set(), lost: new Set() }),
    keptHours: 24,
    keyUses: { note() {}, flush: async () => {} },
    log,
    meter: silentMeter,
  };
};
