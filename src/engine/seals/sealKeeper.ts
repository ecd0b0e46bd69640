import type { Log } from '../../core/log.ts';
import { chainStart } from '../../storage/audit/auditLog.ts';
import type { KeepSeals } from '../../storage/database.ts';
import { createFloors, type Floors } from '../../storage/floors.ts';
import { keepSealsWith } from '../../storage/keepSeals.ts';
import { type RegisterState, type SealKeeper, sealedTables } from '../../storage/seals.ts';
import type { Vault } from '../../vault/vault.ts';

/** Names a row in the log by its key: the rest may be secret. */
export const rowKeyOf = (table: keyof typeof sealedTables, text: string): Record<string, unknown> => {
  const row = JSON.parse(text) as Record<string, unknown>;
  return Object.fromEntries(sealedTables[table].key.map(name => [name, row[name]]));
};

const mostRemembered = 10_000;

/** Tells whether the end of an audit log has its seal for the tables as they are now, and names the newest row. */
const createVoucher = (vault: Vault): ((state: RegisterState) => boolean) => {
  /** The last one of each account: claims of deliveries bring it with each of many rows. */
  const genuine = new Map<string, string>();
  return ({ accountId, sequence, hash, digest, seal, newest }) => {
    const isNewest = sequence === (newest?.sequence ?? '0') && hash === (newest?.hash ?? chainStart.toString('hex'));
    if (!isNewest || seal === null) return false;
    const known = `${sequence} ${hash} ${digest} ${seal}`;
    if (genuine.get(accountId) === known) return true;
    if (!vault.isRowSeal('audit_heads', [accountId, sequence, hash, digest], Buffer.from(seal, 'hex'))) return false;
    if (genuine.size > mostRemembered) genuine.clear();
    genuine.set(accountId, known);
    return true;
  };
};

/** Checks and makes the seals of rows. */
export const createSealKeeper = (vault: Vault, log: Log, floors = createFloors()): SealKeeper => ({
  seal: (table, text) => vault.rowSeal(table, [text]),
  isSealed: (table, text, seal) => vault.isRowSeal(table, [text], seal),
  noticeForged(table, text, isEarlier = false) {
    const what = isEarlier
      ? 'an earlier row was put back and is not used'
      : 'a row does not match its seal and is not used';
    log.error({ forged: table, row: rowKeyOf(table, text) }, what);
  },
  isVouchedFor: createVoucher(vault),
  floors,
});

/** What the database layer does with the seals of rows. */
export const keepingSeals = (vault: Vault, log: Log, floors?: Floors): KeepSeals =>
  keepSealsWith(createSealKeeper(vault, log, floors));
