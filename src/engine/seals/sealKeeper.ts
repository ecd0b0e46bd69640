import type { Log } from '../../core/log.ts';
import type { KeepSeals } from '../../storage/database.ts';
import { keepSealsWith, type SealKeeper, sealedTables } from '../../storage/seals.ts';
import type { Vault } from '../../vault/vault.ts';

/** Names a row in the log by its key: the rest may be secret. */
export const rowKeyOf = (table: keyof typeof sealedTables, text: string): Record<string, unknown> => {
  const row = JSON.parse(text) as Record<string, unknown>;
  return Object.fromEntries(sealedTables[table].key.map(name => [name, row[name]]));
};

/** Checks and makes the seals of rows. */
export const createSealKeeper = (vault: Vault, log: Log): SealKeeper => ({
  seal: (table, text) => vault.rowSeal(table, [text]),
  isSealed: (table, text, seal) => vault.isRowSeal(table, [text], seal),
  noticeForged(table, text) {
    log.error({ forged: table, row: rowKeyOf(table, text) }, 'a row does not match its seal and is not used');
  },
});

/** What the database layer does with the seals of rows. */
export const keepingSeals = (vault: Vault, log: Log): KeepSeals => keepSealsWith(createSealKeeper(vault, log));
