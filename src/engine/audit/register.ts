import { FlorinError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type AuditHead, lockAuditHead, sealAuditHead } from '../../storage/audit/auditLog.ts';
import {
  expectedRegister,
  readRegister,
  readRegisterStates,
  registerDigest,
  settleRegister,
} from '../../storage/audit/register.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Vouched } from '../../storage/seals.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Context } from '../context.ts';

type WithVault = { readonly vault: Vault };

/** What the seal of the end of an audit log covers. */
export const headValues = (accountId: string, sequence: string, hash: Buffer, register: string): string[] => [
  accountId,
  sequence,
  hash.toString('hex'),
  registerDigest(register).toString('hex'),
];

const alteredRecords = (): FlorinError =>
  new FlorinError(
    'service_unavailable',
    'The keys, wallets, members, webhook endpoints or settings of this account were changed in the database. Ask the operator of this installation to run florin doctor.',
  );

const noticeAltered = ({ log }: { readonly log?: Log | undefined }, accountId: string): FlorinError => {
  log?.error(
    { forged: 'audit_heads', accountId },
    'records of an account are not those that its audit log vouches for',
  );
  return alteredRecords();
};

/** Throws unless keys, wallets, memberships, endpoints and settings are those that the audit log vouches for. */
export const assertVouched = (
  context: { readonly log: Log },
  { accountId, vouched }: { readonly accountId: string; readonly vouched: Vouched | null },
): void => {
  if (!vouched?.isTrue) throw noticeAltered(context, accountId);
};

const isHeadTrue = (
  { vault }: WithVault,
  accountId: string,
  { sequence, hash, register, rowSeal }: AuditHead,
): boolean =>
  register !== null &&
  rowSeal !== null &&
  vault.isRowSeal('audit_heads', headValues(accountId, sequence, hash, register), rowSeal);

/**
 * The register after this transaction. Somebody may change the tables while it runs: what it did not write itself must be
 * as it was, or an audit row would vouch for it.
 */
export const nextRegister = async (
  context: WithVault & { readonly log?: Log },
  tx: Queryable,
  accountId: string,
  head: AuditHead,
): Promise<string> => {
  const isFirst = head.sequence === '0' && head.register === null;
  if (!isFirst && !isHeadTrue(context, accountId, head)) throw noticeAltered(context, accountId);
  const register = await readRegister(tx, accountId);
  if (register !== expectedRegister(tx, head.register ?? '', accountId)) throw noticeAltered(context, accountId);
  settleRegister(tx, accountId);
  return register;
};

const pageAccounts = 500;

/** Every account with the state of its register. */
export async function* eachRegister({ db }: Pick<Context, 'db'>) {
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<typeof readRegisterStates>> = await readRegisterStates(db, {
      accountIds: null,
      after,
      limit: pageAccounts,
    });
    yield* page;
    if (page.length < pageAccounts) return;
    after = page.at(-1)!.accountId;
  }
}

/** Makes the end of an account's log vouch for the register as the tables are now. */
export const sealRegister = async ({ vault }: WithVault, tx: Queryable, accountId: string): Promise<void> => {
  const { sequence, hash } = await lockAuditHead(tx, accountId);
  const register = await readRegister(tx, accountId);
  const rowSeal = vault.rowSeal('audit_heads', headValues(accountId, sequence, hash, register));
  await sealAuditHead(tx, accountId, { register, rowSeal });
  settleRegister(tx, accountId);
};

/** Seals the registers of all accounts: those without one, or every one. */
export const sealRegisters = async (
  context: Pick<Context, 'db' | 'vault'>,
  { all }: { readonly all: boolean },
): Promise<void> => {
  for await (const { accountId, vouched, keptDigest } of eachRegister(context)) {
    const isRight = vouched?.isTrue === true && keptDigest === vouched.digest;
    if (all ? isRight : vouched?.seal != null) continue;
    await context.db.transaction(tx => sealRegister(context, tx, accountId));
  }
};

/** The accounts whose register is not what their audit log vouches for. */
export const verifyRegisters = async (
  context: Pick<Context, 'db'>,
): Promise<{ checked: number; problems: string[] }> => {
  const problems: string[] = [];
  let checked = 0;
  for await (const { accountId, vouched, keptDigest } of eachRegister(context)) {
    if (vouched?.isTrue && keptDigest === vouched.digest) checked += 1;
    else {
      problems.push(
        `keys, wallets, members, webhook endpoints or settings of ${accountId} are not those that its audit log vouches for: a row was added, removed, changed or put back. Look at them, then run florin accounts confirm ${accountId}`,
      );
    }
  }
  return { checked, problems };
};
