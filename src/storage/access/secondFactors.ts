import type { Queryable } from '../database.ts';
import { sealedUpdate } from '../seals.ts';

const pendingStatement = {
  name: 'totp-pending',
  text: sealedUpdate('people', { set: { totp_pending: '$2' }, where: 't.id = $1' }),
};
export const putPendingTotp = async (tx: Queryable, id: string, sealed: Buffer): Promise<void> => {
  await tx.query(pendingStatement, [id, sealed]);
};

const confirmStatement = {
  name: 'totp-confirm',
  text: sealedUpdate('people', {
    set: {
      totp_secret: 't.totp_pending',
      totp_pending: 'null',
      totp_last_step: 'greatest($2, t.totp_last_step)',
    },
    where: 't.id = $1',
  }),
};
export const confirmTotp = async (tx: Queryable, id: string, step: bigint): Promise<void> => {
  await tx.query(confirmStatement, [id, step]);
};

const stepStatement = {
  name: 'totp-step',
  text: sealedUpdate('people', {
    // A code that was used does not work for an earlier sign-in either.
    set: {
      totp_last_step: '$2',
      earlier_totp_step: 'case when t.earlier_totp_secret = t.totp_secret then $2 else t.earlier_totp_step end',
    },
    where: 't.id = $1 and t.totp_last_step < $2',
  }),
};
/** False if a code of this step or a later one was used before. */
export const takeTotpStep = async (tx: Queryable, id: string, step: bigint): Promise<boolean> =>
  (await tx.query(stepStatement, [id, step])).length > 0;

const removeStatement = {
  name: 'totp-remove',
  text: sealedUpdate('people', {
    set: { totp_secret: 'null', totp_pending: 'null', recovery_hashes: 'null' },
    where: 't.id = $1',
  }),
};
export const removeTotp = async (tx: Queryable, id: string): Promise<void> => {
  await tx.query(removeStatement, [id]);
};

const replaceCodesStatement = {
  name: 'recovery-replace',
  text: sealedUpdate('people', { set: { recovery_hashes: '$2' }, where: 't.id = $1' }),
};
export const replaceRecoveryCodes = async (tx: Queryable, id: string, hashes: readonly Buffer[]): Promise<void> => {
  await tx.query(replaceCodesStatement, [id, hashes]);
};

const useCodeStatement = {
  name: 'recovery-use',
  text: sealedUpdate('people', {
    set: {
      recovery_hashes: `nullif(array_remove(t.recovery_hashes, $2), '{}')`,
      earlier_recovery_hashes: `nullif(array_remove(t.earlier_recovery_hashes, $2), '{}')`,
    },
    where: 't.id = $1 and $2 = any(t.recovery_hashes)',
  }),
};
/** False if the person has no such code, or used it before. */
export const spendRecoveryCode = async (tx: Queryable, id: string, hash: Buffer): Promise<boolean> =>
  (await tx.query(useCodeStatement, [id, hash])).length > 0;
