import type { Queryable } from '../database.ts';

const pendingStatement = {
  name: 'totp-pending',
  text: `update people set totp_pending = $3 where account_id = $1 and id = $2`,
};
export const putPendingTotp = async (tx: Queryable, accountId: string, id: string, sealed: Buffer): Promise<void> => {
  await tx.query(pendingStatement, [accountId, id, sealed]);
};

const confirmStatement = {
  name: 'totp-confirm',
  text: `update people set totp_secret = totp_pending, totp_pending = null, totp_last_step = greatest($3, totp_last_step)
    where account_id = $1 and id = $2`,
};
export const confirmTotp = async (tx: Queryable, accountId: string, id: string, step: bigint): Promise<void> => {
  await tx.query(confirmStatement, [accountId, id, step]);
};

const stepStatement = {
  name: 'totp-step',
  text: `update people set totp_last_step = $3 where account_id = $1 and id = $2 and totp_last_step < $3 returning id`,
};
/** False if a code of this step or a later one was used before. */
export const takeTotpStep = async (tx: Queryable, accountId: string, id: string, step: bigint): Promise<boolean> =>
  (await tx.query(stepStatement, [accountId, id, step])).length > 0;

const removeStatement = {
  name: 'totp-remove',
  text: `with codes as (delete from recovery_codes where account_id = $1 and person_id = $2)
    update people set totp_secret = null, totp_pending = null where account_id = $1 and id = $2`,
};
export const removeTotp = async (tx: Queryable, accountId: string, id: string): Promise<void> => {
  await tx.query(removeStatement, [accountId, id]);
};

const dropCodesStatement = {
  name: 'recovery-drop',
  text: `delete from recovery_codes where account_id = $1 and person_id = $2`,
};
const insertCodesStatement = {
  name: 'recovery-insert',
  text: `insert into recovery_codes (account_id, person_id, hash) select $1, $2, hash from unnest($3::bytea[]) as t(hash)`,
};
export const replaceRecoveryCodes = async (
  tx: Queryable,
  accountId: string,
  id: string,
  hashes: readonly Buffer[],
): Promise<void> => {
  await tx.query(dropCodesStatement, [accountId, id]);
  await tx.query(insertCodesStatement, [accountId, id, hashes]);
};

const useCodeStatement = {
  name: 'recovery-use',
  text: `update recovery_codes set used_at = clock_timestamp()
    where account_id = $1 and person_id = $2 and hash = $3 and used_at is null returning hash`,
};
export const spendRecoveryCode = async (tx: Queryable, accountId: string, id: string, hash: Buffer): Promise<boolean> =>
  (await tx.query(useCodeStatement, [accountId, id, hash])).length > 0;
