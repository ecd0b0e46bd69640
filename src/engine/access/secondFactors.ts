import { FlorinError, invalid } from '../../core/errors.ts';
import { keepEarlier } from '../../storage/access/earlierSignIn.ts';
import { lockPerson, type PersonRow } from '../../storage/access/people.ts';
import {
  confirmTotp,
  putPendingTotp,
  removeTotp,
  replaceRecoveryCodes,
  spendRecoveryCode,
  takeTotpStep,
} from '../../storage/access/secondFactors.ts';
import type { Queryable } from '../../storage/database.ts';
import { generateRecoveryCodes, readRecoveryCode } from '../../vault/recoveryCodes.ts';
import { base32Of, generateTotpSecret, matchTotp, totpUri } from '../../vault/totp.ts';
import type { Deed } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import type { AccountWork } from '../perform.ts';
import { inEveryAccount } from './inEveryAccount.ts';
import type { SignedInPerson } from './sessions.ts';
import { totpContext } from './totpContext.ts';

type Parts = Pick<Context, 'db' | 'vault' | 'clock'>;

/** Uses up an authenticator code or a recovery code; each works once. Returns which it was, or null. */
export const takeCode = async (
  context: Pick<Context, 'vault' | 'clock'>,
  tx: Queryable,
  person: PersonRow,
  text: string,
): Promise<'totp' | 'recovery' | null> => {
  const { id } = person;
  const code = text.replaceAll(/\s/g, '');
  if (person.totpSecret) {
    const secret = context.vault.open(person.totpSecret, totpContext(person));
    const step = matchTotp(secret, code, context.clock.nowMs(), BigInt(person.totpLastStep));
    if (step !== null) return (await takeTotpStep(tx, id, step)) ? 'totp' : null;
  }
  const recovery = readRecoveryCode(text);
  if (recovery === null) return null;
  return (await spendRecoveryCode(tx, id, context.vault.recoveryHash(id, recovery))) ? 'recovery' : null;
};

/** Locks the person's own row. */
export const lockSelf = async (tx: Queryable, { personId }: Pick<SignedInPerson, 'personId'>): Promise<PersonRow> => {
  const row = await lockPerson(tx, personId);
  if (!row) throw new FlorinError('unauthorized', 'Your session has ended. Sign in again.');
  return row;
};

/** Locks the person's own row before their sign-in changes, and keeps how they sign in now: it undoes the change for a while. */
export const lockToChange = async (tx: Queryable, person: Pick<SignedInPerson, 'personId'>): Promise<PersonRow> => {
  await keepEarlier(tx, person.personId);
  return lockSelf(tx, person);
};

/** Creates a secret that is not active yet. It replaces an earlier pending one. */
export const beginTotp = (context: Context, person: SignedInPerson): Promise<{ uri: string; secret: string }> =>
  context.db.transaction(async tx => {
    const row = await lockSelf(tx, person);
    if (row.totpSecret) throw new FlorinError('conflict', 'You already have an authenticator. Turn it off first.');
    const secret = generateTotpSecret();
    const sealed = context.vault.seal(secret, totpContext(row));
    await putPendingTotp(tx, row.id, sealed);
    return { uri: totpUri(secret, row.email, new URL(context.dashboard.url).host), secret: base32Of(secret) };
  });

const newRecoveryCodes = async (
  context: Pick<Context, 'vault'>,
  tx: Queryable,
  { id }: PersonRow,
): Promise<string[]> => {
  const codes = generateRecoveryCodes();
  await replaceRecoveryCodes(
    tx,
    id,
    codes.map(code => context.vault.recoveryHash(id, code)),
  );
  return codes;
};

/** In the logs of all accounts that the person can open. */
const changed = (
  tx: Queryable,
  action: 'person.totp_added' | 'person.totp_removed' | 'person.recovery_codes_renewed',
  id: string,
): Promise<Deed[]> => inEveryAccount(tx, id, { action, subject: id, detail: {} });

/** Activates the pending secret if the code is right. The recovery codes are shown only now. */
export const turnTotpOn =
  (context: Parts, person: SignedInPerson, code: string): AccountWork<string[]> =>
  async tx => {
    const row = await lockToChange(tx, person);
    if (!row.totpPending) throw new FlorinError('conflict', 'Start the setup of an authenticator first.');
    const secret = context.vault.open(row.totpPending, totpContext(row));
    const step = matchTotp(secret, code.replaceAll(/\s/g, ''), context.clock.nowMs(), 0n);
    if (step === null) throw invalid('code', 'The code is wrong. Enter the code that your authenticator shows now.');
    await confirmTotp(tx, row.id, step);
    const codes = await newRecoveryCodes(context, tx, row);
    return { value: codes, deed: null, followed: await changed(tx, 'person.totp_added', row.id) };
  };

export const turnTotpOff =
  (person: SignedInPerson): AccountWork<null> =>
  async tx => {
    const row = await lockToChange(tx, person);
    if (!row.totpSecret) throw new FlorinError('conflict', 'You have no authenticator.');
    await removeTotp(tx, row.id);
    return { value: null, deed: null, followed: await changed(tx, 'person.totp_removed', row.id) };
  };

export const renewRecoveryCodes =
  (context: Parts, person: SignedInPerson): AccountWork<string[]> =>
  async tx => {
    const row = await lockToChange(tx, person);
    if (!row.totpSecret)
      throw new FlorinError('conflict', 'Recovery codes replace an authenticator code. Add an authenticator first.');
    const codes = await newRecoveryCodes(context, tx, row);
    return { value: codes, deed: null, followed: await changed(tx, 'person.recovery_codes_renewed', row.id) };
  };
