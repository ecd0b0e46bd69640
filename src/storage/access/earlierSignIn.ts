import { earlierHours, establishedDays } from '../../core/access/ownerGuard.ts';
import type { AuditAction } from '../../core/auditActions.ts';
import type { Queryable, Row } from '../database.ts';
import { sealedUpdate, sealsOf } from '../seals.ts';
import { sweepPasskeys } from './passkeys.ts';
import { lockPerson, type PersonRow } from './people.ts';

const isUsable = (alias: string): string => `${alias}.earlier_until > statement_timestamp()`;
/** An earlier sign-in that is kept without a second factor: its person had none. */
const isPasswordAlone = (alias: string): string =>
  `(${alias}.earlier_totp_secret is null and ${alias}.earlier_passkey_ids is null)`;

// A passkey that its person joined with was made with their row. Nobody else can have planted it there.
const establishedStatement = {
  name: 'earlier-passkeys',
  text: `select k.id, ${sealsOf({ k: 'passkeys', p: 'people' })} from passkeys k join people p on p.id = k.person_id
    where k.person_id = $1
      and (k.created_at <= statement_timestamp() - interval '${establishedDays} days' or k.created_at = p.created_at)`,
};
const didStatement = {
  name: 'earlier-did',
  text: `select exists (select from memberships m
      join audit_log l on l.account_id = m.account_id and l.actor_id = $1 and l.action = $2
      where m.person_id = $1 and l.at > statement_timestamp() - interval '${earlierHours} hours') as "isThere"`,
};
const didRecently = async (db: Queryable, id: string, action: AuditAction): Promise<boolean> =>
  (await db.query<Row & { isThere: boolean }>(didStatement, [id, action]))[0]!.isThere;

/** Each column of the earlier sign-in, and what it keeps. `$2`: passkeys that are old enough. `$3`: a new authenticator. */
const keptNow = {
  earlier_password_hash: 't.password_hash',
  earlier_totp_secret: 'case when not $3 then t.totp_secret end',
  earlier_totp_step: 't.totp_last_step',
  earlier_passkey_ids: `nullif(array(select id from unnest(t.passkey_ids) as id where id = any($2::text[])), '{}')`,
  earlier_recovery_hashes: 'case when not $3 then t.recovery_hashes end',
};
const cleared = Object.fromEntries(['earlier_until', ...Object.keys(keptNow)].map(column => [column, 'null']));

const keepStatement = {
  name: 'earlier-keep',
  text: sealedUpdate('people', {
    set: {
      // Further changes prolong it only if it has a second factor.
      earlier_until: `case when ${isUsable('t')} and ${isPasswordAlone('t')} then t.earlier_until
        else statement_timestamp() + interval '${earlierHours} hours' end`,
      ...Object.fromEntries(
        Object.entries(keptNow).map(([earlier, now]) => [
          earlier,
          `case when ${isUsable('t')} then t.${earlier} else ${now} end`,
        ]),
      ),
    },
    where: `t.id = $1
      and (${isUsable('t')} or (t.totp_secret is not null and not $3) or t.passkey_ids && $2::text[]
        or (t.totp_secret is null and t.passkey_ids is null and t.password_hash is not null))`,
  }),
};
/**
 * Keeps how a person signs in before it changes, or an earlier one that is kept already, for a while. A password alone is kept
 * only if it was all that the person had, and further changes do not prolong it: an old password that leaked must not pass a
 * second factor by for longer. A second factor that a thief added and the owner removes must not come back, so new ones are
 * not kept.
 */
export const keepEarlier = async (tx: Queryable, id: string): Promise<void> => {
  const established = await tx.query<Row & { id: string }>(establishedStatement, [id]);
  // No column has the age of an authenticator, but the audit log of each account has when it was turned on.
  const isTotpNew = await didRecently(tx, id, 'person.totp_added');
  await tx.query(keepStatement, [id, established.map(passkey => passkey.id), isTotpNew]);
};

const findStatement = {
  name: 'earlier-by-email',
  text: `select p.id, p.first_account_id as "firstAccountId", p.email, p.name,
      case when p.earlier_totp_secret is not null or ${isPasswordAlone('p')} then p.earlier_password_hash
        end as "passwordHash",
      p.earlier_totp_secret as "totpSecret", null as "totpPending", p.earlier_totp_step as "totpLastStep",
      coalesce(cardinality(p.earlier_passkey_ids), 0) as passkeys,
      coalesce(cardinality(p.earlier_recovery_hashes), 0) as "recoveryCodesLeft", ${sealsOf({ p: 'people' })}
    from people p where p.email = $1 and p.removed_at is null and ${isUsable('p')}`,
};
/** A person as they signed in earlier. If they had only passkeys beside their password, the password alone is none. */
export const findEarlierByEmail = async (db: Queryable, email: string): Promise<PersonRow | null> =>
  (await db.query<PersonRow>(findStatement, [email]))[0] ?? null;

const restoreStatement = {
  name: 'earlier-restore',
  text: sealedUpdate('people', {
    set: {
      password_hash: 't.earlier_password_hash',
      totp_secret: 't.earlier_totp_secret',
      totp_pending: 'null',
      totp_last_step: `case when t.totp_secret is distinct from t.earlier_totp_secret then t.earlier_totp_step
        else t.totp_last_step end`,
      passkey_ids: 't.earlier_passkey_ids',
      recovery_hashes: 't.earlier_recovery_hashes',
      ...cleared,
    },
    where: `t.id = $1 and t.removed_at is null and ${isUsable('t')}`,
  }),
};
/** Locks the person and lets them sign in as earlier, and in no other way. Null if no earlier sign-in is kept. */
export const restoreEarlier = async (tx: Queryable, id: string): Promise<PersonRow | null> => {
  if ((await tx.query(restoreStatement, [id])).length === 0) return null;
  await sweepPasskeys(tx, id);
  return lockPerson(tx, id);
};

const forgetStatement = {
  name: 'earlier-forget',
  text: sealedUpdate('people', {
    set: cleared,
    where: `t.id = $1 and t.earlier_until is not null and ($2 or not ${isUsable('t')})`,
  }),
};
const forget = async (tx: Queryable, id: string, even: boolean): Promise<void> => {
  if ((await tx.query(forgetStatement, [id, even])).length > 0) await sweepPasskeys(tx, id);
};
/** The earlier sign-in of a person no longer works. */
export const forgetEarlier = (tx: Queryable, id: string): Promise<void> => forget(tx, id, true);
/** The same, if its time is over. */
export const forgetOldEarlier = (tx: Queryable, id: string): Promise<void> => forget(tx, id, false);

const untilStatement = {
  name: 'earlier-until',
  text: `select p.earlier_until as until, ${sealsOf({ p: 'people' })} from people p where p.id = $1 and ${isUsable('p')}`,
};
/** Until when the earlier sign-in of a person works; null if none is kept. */
export const readEarlierUntil = async (db: Queryable, id: string): Promise<Date | null> =>
  (await db.query<Row & { until: Date }>(untilStatement, [id]))[0]?.until ?? null;

const sessionBeforeStatement = {
  name: 'earlier-session',
  text: `select s.id, ${sealsOf({ s: 'sessions', p: 'people' })}
    from sessions s join people p on p.id = s.person_id and s.id = any(p.session_ids)
    where s.person_id = $1 and s.id = $2 and ${isUsable('p')} and ${isPasswordAlone('p')}
      and s.created_at < p.earlier_until - interval '${earlierHours} hours'`,
};
/** Whether a session is from before its person had a second factor, or the password that they have now. */
export const isFromBeforeFactors = async (
  db: Queryable,
  session: { personId: string; sessionId: string },
): Promise<boolean> => (await db.query(sessionBeforeStatement, [session.personId, session.sessionId])).length > 0;

const factorStatement = {
  name: 'earlier-second-factor',
  text: `select p.id, ${sealsOf({ p: 'people' })} from people p
    where p.id = $1 and ${isUsable('p')} and not ${isPasswordAlone('p')}`,
};
/** Whether a person removed a second factor a while ago, or has an earlier sign-in with one. */
export const hadSecondFactor = async (db: Queryable, id: string): Promise<boolean> =>
  (await db.query(factorStatement, [id])).length > 0 ||
  (await didRecently(db, id, 'person.totp_removed')) ||
  (await didRecently(db, id, 'person.passkey_removed'));
