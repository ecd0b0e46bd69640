import type { AuditAction } from '../../core/auditActions.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
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
import { personActor, recordAudit } from '../audit/audit.ts';
import type { Context } from '../context.ts';
import type { SignedInPerson } from './sessions.ts';

const totpContext = (accountId: string, personId: string): string[] => ['totp', accountId, personId];

type Parts = Pick<Context, 'db' | 'vault' | 'clock'>;

/** Uses up an authenticator code or a recovery code; each works once. Returns which it was, or null. */
export const takeCode = async (
  context: Pick<Context, 'vault' | 'clock'>,
  tx: Queryable,
  person: PersonRow,
  text: string,
): Promise<'totp' | 'recovery' | null> => {
  const { accountId, id } = person;
  const code = text.replaceAll(/\s/g, '');
  if (person.totpSecret) {
    const secret = context.vault.open(person.totpSecret, totpContext(accountId, id));
    const step = matchTotp(secret, code, context.clock.nowMs(), BigInt(person.totpLastStep));
    if (step !== null) return (await takeTotpStep(tx, accountId, id, step)) ? 'totp' : null;
  }
  const recovery = readRecoveryCode(text);
  if (recovery === null) return null;
  return (await spendRecoveryCode(tx, accountId, id, context.vault.recoveryHash(id, recovery))) ? 'recovery' : null;
};

/** Locks the person's own row. */
export const lockSelf = async (tx: Queryable, { accountId, personId }: SignedInPerson): Promise<PersonRow> => {
  const row = await lockPerson(tx, accountId, personId);
  if (!row) throw new FlorinError('unauthorized', 'Your session has ended. Sign in again.');
  return row;
};

/** Creates a secret that is not active yet. It replaces an earlier pending one. */
export const beginTotp = (context: Context, person: SignedInPerson): Promise<{ uri: string; secret: string }> =>
  context.db.transaction(async tx => {
    const row = await lockSelf(tx, person);
    if (row.totpSecret) throw new FlorinError('conflict', 'You already have an authenticator. Turn it off first.');
    const secret = generateTotpSecret();
    const sealed = context.vault.seal(secret, totpContext(row.accountId, row.id));
    await putPendingTotp(tx, row.accountId, row.id, sealed);
    return { uri: totpUri(secret, row.email, new URL(context.dashboard.url).host), secret: base32Of(secret) };
  });

const newRecoveryCodes = async (
  context: Pick<Context, 'vault'>,
  tx: Queryable,
  { accountId, id }: PersonRow,
): Promise<string[]> => {
  const codes = generateRecoveryCodes();
  await replaceRecoveryCodes(
    tx,
    accountId,
    id,
    codes.map(code => context.vault.recoveryHash(id, code)),
  );
  return codes;
};

const recordChange = (
  context: Pick<Context, 'vault'>,
  tx: Queryable,
  person: SignedInPerson,
  action: AuditAction,
  address: string,
) =>
  recordAudit(context, tx, {
    accountId: person.accountId,
    environment: null,
    actor: personActor(person),
    action,
    subject: person.personId,
    detail: {},
    address,
  });

/** Activates the pending secret if the code is right. The recovery codes are shown only now. */
export const turnTotpOn = (context: Parts, person: SignedInPerson, code: string, address: string): Promise<string[]> =>
  context.db.transaction(async tx => {
    const row = await lockSelf(tx, person);
    if (!row.totpPending) throw new FlorinError('conflict', 'Start the setup of an authenticator first.');
    const secret = context.vault.open(row.totpPending, totpContext(row.accountId, row.id));
    const step = matchTotp(secret, code.replaceAll(/\s/g, ''), context.clock.nowMs(), 0n);
    if (step === null) throw invalid('code', 'The code is wrong. Enter the code that your authenticator shows now.');
    await confirmTotp(tx, row.accountId, row.id, step);
    const codes = await newRecoveryCodes(context, tx, row);
    await recordChange(context, tx, person, 'person.totp_added', address);
    return codes;
  });

export const turnTotpOff = (context: Parts, person: SignedInPerson, address: string): Promise<void> =>
  context.db.transaction(async tx => {
    const row = await lockSelf(tx, person);
    if (!row.totpSecret) throw new FlorinError('conflict', 'You have no authenticator.');
    await removeTotp(tx, row.accountId, row.id);
    await recordChange(context, tx, person, 'person.totp_removed', address);
  });

export const renewRecoveryCodes = (context: Parts, person: SignedInPerson, address: string): Promise<string[]> =>
  context.db.transaction(async tx => {
    const row = await lockSelf(tx, person);
    if (!row.totpSecret)
      throw new FlorinError('conflict', 'Recovery codes replace an authenticator code. Add an authenticator first.');
    const codes = await newRecoveryCodes(context, tx, row);
    await recordChange(context, tx, person, 'person.recovery_codes_renewed', address);
    return codes;
  });
