import { silentLog } from '../../src/core/log.ts';
import { keepingSeals } from '../../src/engine/seals/sealKeeper.ts';
import type { Database } from '../../src/storage/database.ts';
import { masterKeyOf } from '../../src/vault/masterKey.ts';
import { createVault } from '../../src/vault/vault.ts';

/** For tests of storage, which need no Florin. */
export const testVault = createVault(masterKeyOf(Buffer.alloc(32, 7)));

/** Lets a database check and make seals with the vault of tests. */
export const withTestSeals = (db: Database): Database => {
  db.keepSeals(keepingSeals(testVault, silentLog));
  return db;
};
