import { lockAuditHead } from '../../storage/audit/auditLog.ts';
import { expectedRegister, readRegister, registerDigest, settleRegister } from '../../storage/audit/register.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  type KeyedTable,
  lockOwnedRows,
  type OwnedRow,
  type OwnedTable,
  readOwnedRows,
} from '../../storage/keys/remadeRows.ts';
import { readAuditHead, rewriteAuditHead, type StoredHead } from '../../storage/keys/remadeValues.ts';
import type { Announcer } from '../audit/announce.ts';
import { operatorActor, recordAudit } from '../audit/audit.ts';
import { headValues } from '../audit/register.ts';
import { rowKeyOf } from '../seals/sealKeeper.ts';
import { type RemadeChain, remakeChain } from './remakeAuditLog.ts';
import { planRow, writeRow } from './remakeSealed.ts';
import { forged, type Remaking, type Round } from './remaking.ts';

/**
 * Rows with values of the key whose hashes are in the register of their account. They change together with it. Settings come
 * first: whoever writes a wallet or an endpoint locks them before.
 */
export const ownedTables = [
  'account_settings',
  'wallets',
  'webhook_endpoints',
] as const satisfies readonly OwnedTable[];

type Plan = { readonly table: KeyedTable; readonly text: string; readonly columns: Readonly<Record<string, unknown>> };

const plansOf = (remaking: Remaking, table: KeyedTable, rows: readonly OwnedRow[], faults: string[]): Plan[] =>
  rows.flatMap(({ text, seal }) => {
    const columns = planRow(remaking, table, text, seal);
    if (columns === forged) faults.push(`${table} ${Object.values(rowKeyOf(table, text)).join(' ')}`);
    return columns === null || columns === forged ? [] : [{ table, text, columns }];
  });

type Head = Pick<StoredHead, 'sequence' | 'hash' | 'register' | 'rowSeal'>;

/** Whether a register is the one that the newest row of a log vouches for. Older rows have none. */
const isVouchedFor = (register: string, { last }: RemadeChain): boolean =>
  !last?.register || last.register.equals(registerDigest(register));

/**
 * Whether the end of the log is as Florin wrote it, and with which key. An earlier end with its seal is genuine, too: it
 * must name the newest row of the log, and what that vouches for.
 */
const headStateOf = (
  { former, next }: Remaking,
  accountId: string,
  { sequence, hash, register, rowSeal }: Head,
  chain: RemadeChain,
): 'next' | 'former' | 'forged' => {
  const isNewest = sequence === (chain.last?.sequence ?? '0') && hash.equals(chain.was);
  if (register === null || rowSeal === null || !isNewest || !isVouchedFor(register, chain)) return 'forged';
  const values = headValues(accountId, sequence, hash, register);
  if (next.isRowSeal('audit_heads', values, rowSeal)) return 'next';
  return former.isRowSeal('audit_heads', values, rowSeal) ? 'former' : 'forged';
};

/** Looks without locks whether all of an account has the next key: its log may be long, and acts wait for the lock. */
const isOver = async (remaking: Remaking, accountId: string): Promise<boolean> => {
  const { db } = remaking;
  const faults: string[] = [];
  for (const table of ownedTables) {
    const plans = plansOf(remaking, table, await readOwnedRows(db, table, accountId), faults);
    if (plans.length > 0) return false;
  }
  const head = await readAuditHead(db, accountId);
  if (faults.length > 0 || head === null || head.register !== (await readRegister(db, accountId))) return false;
  const chain = await remakeChain(remaking, db, accountId, false);
  const state = headStateOf(remaking, accountId, head, chain);
  return state === 'next' && chain.remade === 0 && chain.forged.length === 0;
};

/** Returns how many values were made anew. */
const remakeLocked = async (
  context: Announcer,
  remaking: Remaking,
  tx: Queryable,
  { accountId, faults }: { readonly accountId: string; readonly faults: string[] },
): Promise<number> => {
  // Rows before the log, in the order of every other transaction.
  const plans: Plan[] = [];
  for (const table of ownedTables) {
    plans.push(...plansOf(remaking, table, await lockOwnedRows(tx, table, accountId), faults));
  }
  const head = await lockAuditHead(tx, accountId);
  for (const { table, text, columns } of plans) await writeRow(remaking, tx, table, text, columns);
  const chain = await remakeChain(remaking, tx, accountId, true);
  const state = headStateOf(remaking, accountId, head, chain);
  // Of the register that was verified, and of what this transaction changed in it: others may have changed the tables.
  const register = expectedRegister(tx, head.register ?? '', accountId);
  settleRegister(tx, accountId);
  const isTrue = state !== 'forged' && (await readRegister(tx, accountId)) === register;
  faults.push(...chain.forged, ...(isTrue ? [] : [`audit_heads ${accountId}`]));
  const hash = head.hash.equals(chain.was) ? chain.hash : head.hash;
  if (!isTrue) {
    // A register that is not true gets no seal, so the account stays refused.
    await rewriteAuditHead(tx, accountId, { ...head, hash });
    return plans.length + chain.remade;
  }
  const rowSeal = remaking.next.rowSeal('audit_heads', headValues(accountId, head.sequence, hash, register));
  await rewriteAuditHead(tx, accountId, { hash, register, rowSeal });
  // Once for each account, however often the rotation is stopped, and where no row vouches for the register yet.
  if (chain.isFirstRemade || (chain.rows === 0 && state === 'former') || !isVouchedFor(register, chain)) {
    const entry = { accountId, environment: null, actor: operatorActor, address: null };
    await recordAudit(context, tx, { ...entry, action: 'master_key.rotated', subject: null, detail: {} });
  }
  return plans.length + chain.remade + (state === 'former' ? 1 : 0);
};

/** Makes the settings, wallets, endpoints and audit log of an account anew, in one transaction. */
export const remakeAccount = async (
  context: Announcer,
  remaking: Remaking,
  accountId: string,
  round: Round,
): Promise<void> => {
  if (await isOver(remaking, accountId)) return;
  const { faults, remade } = await remaking.db.transaction(async tx => {
    const found: string[] = [];
    const count = await remakeLocked(context, remaking, tx, { accountId, faults: found });
    return { faults: found, remade: count };
  });
  round.remade += remade;
  round.forged.push(...faults);
};
