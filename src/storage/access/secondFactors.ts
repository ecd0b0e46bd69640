import type { Queryable } from '../database.ts';

const pendingStatement = {
  name: 'totp-pending',
  text: `update people set totp_pending = $2 where id = $1`,
};
export const putPendingTotp = async (tx: Queryable, id: string, sealed: Buffer): Promise<void> => {
  await tx.query(pendingStatement, [id, sealed]);
};

const confirmStatement = {
  name: 'totp-confirm',
  text: `update people set totp_secret = totp_pending, totp_pending = null, totp_last_step = greatest($2, totp_last_step)
    where id = $1`,
};
export const confirmTotp = async (tx: Queryable, id: string, step: bigint): Promise<void> => {
  await tx.query(confirmStatement, [id, step]);
};

const stepStatement = {
  name: 'totp-step',
  text: `update people set totp_last_step = $2 where id = $1 and totp_last_step < $2 returning id`,
};
/** False if a code of this step or a later one was used before. */
export const takeTotpStep = async (tx: Queryable, id: string, step: bigint): Promise<boolean> =>
  (await tx.query(stepStatement, [id, step])).length > 0;

const removeStatement = {
  name: 'totp-remove',
  text: `with codes as (delete from recovery_codes where person_id = $1)
    update people set totp_secret = null, totp_pending = null where id = $1`,
};
export const removeTotp = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(removeStatement, [id]);
};

const dropCodesStatement = {
  name: 'recovery-drop',
  text: `delete from recovery_codes where person_id = $1`,
};
const insertCodesStatement = {
  name: 'recovery-insert',
  text: `insert into recovery_codes (person_id, hash) select $1, hash from unnest($2::bytea[]) as t(hash)`,
};
export const replaceRecoveryCodes = async (tx: Queryable, id: string, hashes: readonly Buffer[]): Promise<void> => {
  await tx.query(dropCodesStatement, [id]);
  await tx.query(insertCodesStatement, [id, hashes]);
};

const useCodeStatement = {
  name: 'recovery-use',
  text: `update recovery_codes set used_at = clock_timestamp()
    where person_id = $1 and hash = $2 and used_at is null returning hash`,
};
export const spendRecoveryCode = async (tx: Queryable, id: string, hash: Buffer): Promise<boolean> =>
  (await tx.query(useCodeStatement, [id, hash])).length > 0;
