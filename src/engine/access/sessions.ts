import { provenSeconds } from '../../core/access/proofRules.ts';
import { type Action, mayDo, type Role } from '../../core/access/rights.ts';
import type { SessionEnd } from '../../core/api/sessionApi.ts';
import { FlorinError } from '../../core/errors.ts';
import { isFromBeforeFactors } from '../../storage/access/earlierSignIn.ts';
import { shareRole } from '../../storage/access/memberships.ts';
import { lockPerson } from '../../storage/access/people.ts';
import {
  endSession,
  endSessions,
  findSession,
  insertSession,
  isLaterProven,
  listSessions,
  proveSession,
  readSessionRole,
  type SessionRow,
  switchSession,
  touchSession,
  trimSessions,
  whySessionEnded,
} from '../../storage/access/sessions.ts';
import type { Queryable } from '../../storage/database.ts';
import { generateToken, hashToken } from '../../vault/tokens.ts';
import { assertVouched } from '../audit/register.ts';
import type { Context } from '../context.ts';
import type { AccountWork } from '../perform.ts';

/** The signed-in person. Role and session are read again for each request, so that a removed right is gone at once. */
export type SignedInPerson = {
  readonly personId: string;
  readonly accountId: string;
  readonly role: Role;
  readonly name: string;
  readonly email: string;
  readonly sessionId: string;
  /** Until this time sensitive actions need no new proof. Null if the next one needs it. */
  readonly provenUntil: Date | null;
  /** The same for a proof by a passkey or a code. A password alone does not set it. */
  readonly stronglyProvenUntil: Date | null;
};

/** The origin of a request, as shown in the list of sessions and in the audit log, and the port that it came to. */
export type Visit = { readonly address: string; readonly device: string; readonly port: string };

const idleSeconds = 1_800;
export const sessionSeconds = 12 * 3600;
/** A session's last use is written at most this often. */
const staleSeconds = 60;

/** The list of sessions shows all of them, so that none can hide. */
const maxSessions = 50;

/** Opens a session in an account of the person, with a new token, whatever token the browser had. */
export const openSession = async (
  context: Pick<Context, 'ids' | 'clock'>,
  tx: Queryable,
  person: { readonly accountId: string; readonly id: string },
  visit: Visit,
): Promise<{ token: string; sessionId: string }> => {
  const { token, hash } = generateToken(visit.port);
  const { id } = context.ids.next('session', context.clock.nowMs());
  await insertSession(tx, {
    accountId: person.accountId,
    personId: person.id,
    id,
    tokenHash: hash,
    livesSeconds: sessionSeconds,
    address: visit.address.slice(0, 64),
    device: visit.device.slice(0, 200),
  });
  await trimSessions(tx, person.id, maxSessions);
  return { token, sessionId: id };
};

/** `isUse` is false for automatic requests of a page, which must not keep an unused session alive. */
export const findSignedIn = async (
  context: Pick<Context, 'db' | 'vault' | 'log'>,
  token: string,
  { port, isUse }: { port: string; isUse: boolean },
): Promise<SignedInPerson | null> => {
  const hash = hashToken(token, port);
  const owner = hash && (await findSession(context.db, hash, { idleSeconds, staleSeconds }));
  if (!owner) return null;
  assertVouched(context, owner);
  if (isUse && owner.isStale) await touchSession(context.db, owner);
  const { sessionId, personId, accountId, role, name, email, provenUntil, stronglyProvenUntil } = owner;
  return { sessionId, personId, accountId, role, name, email, provenUntil, stronglyProvenUntil };
};

/** Why this token opens nothing any more. */
export const whyEnded = async (context: Pick<Context, 'db'>, token: string, port: string): Promise<SessionEnd> => {
  const hash = hashToken(token, port);
  return hash === null ? 'unknown' : whySessionEnded(context.db, hash);
};

/** False as soon as the session has ended, the person was removed, or their role does not allow it any more. */
export const isStillAllowed = async (
  context: Pick<Context, 'db'>,
  person: SignedInPerson,
  action: Action,
): Promise<boolean> => {
  const role = await readSessionRole(context.db, person);
  return role !== null && mayDo(role, action);
};

const noSuchSession = (): FlorinError => new FlorinError('not_found', 'You have no session with this id.');

/** Sensitive actions need no new proof for the next minutes. The caller must have verified the proof. */
export const markProven = async (
  tx: Queryable,
  person: Pick<SignedInPerson, 'personId' | 'sessionId'>,
  isStrong: boolean,
): Promise<{ provenUntil: Date; stronglyProvenUntil: Date | null }> => {
  const proven = await proveSession(tx, person, { seconds: provenSeconds, isStrong });
  if (!proven) throw new FlorinError('unauthorized', 'Your session has ended. Sign in again.');
  return proven;
};

export const listOwnSessions = (context: Pick<Context, 'db'>, person: SignedInPerson): Promise<SessionRow[]> =>
  listSessions(context.db, person.personId, idleSeconds);

/**
 * A thief's session must not end the sessions that its owner opens with a passkey or a code. With a proof of its own it
 * may, and if it is from before the first second factor: a thief may have added that one, and whoever is in the right ends
 * all sessions with the earlier sign-in, which is kept as long. `id` is null for all sessions but this one. The lock makes a
 * sign-in beside it come before or after.
 */
const refuseLaterProven = async (tx: Queryable, person: SignedInPerson, id: string | null): Promise<void> => {
  if (person.stronglyProvenUntil) return;
  await lockPerson(tx, person.personId);
  if (!(await isLaterProven(tx, person, id)) || (await isFromBeforeFactors(tx, person))) return;
  const message = 'A newer session was opened with a second factor. To end it, confirm your identity with yours.';
  throw new FlorinError('permission_denied', message, 'secondFactor');
};

/** Ends a session of the person's own, in whichever account it is open. */
export const endOwnSession =
  (person: SignedInPerson, id: string): AccountWork<null> =>
  async tx => {
    const isThis = id === person.sessionId;
    if (!isThis) await refuseLaterProven(tx, person, id);
    if (!(await endSession(tx, person.personId, id, isThis ? 'signed_out' : 'ended'))) throw noSuchSession();
    const action = isThis ? 'session.signed_out' : 'session.ended';
    return { value: null, deed: { action, subject: id, detail: {} } };
  };

/** Ends the browser's previous session. Otherwise it would live on, and nobody could end it. */
export const endReplacedSession =
  ({ personId, sessionId }: SignedInPerson): AccountWork<null> =>
  async tx => {
    const isEnded = await endSession(tx, personId, sessionId, 'signed_out');
    return { value: null, deed: isEnded ? { action: 'session.replaced', subject: sessionId, detail: {} } : null };
  };

export const endOtherSessions =
  (person: SignedInPerson): AccountWork<null> =>
  async tx => {
    const { personId, sessionId } = person;
    await refuseLaterProven(tx, person, null);
    const sessions = await endSessions(tx, personId, 'ended', { keptId: sessionId });
    return { value: null, deed: { action: 'session.others_ended', subject: personId, detail: { sessions } } };
  };

/** Opens the session in another account of the person. The other account's log has the row. */
export const switchAccount =
  (person: SignedInPerson): AccountWork<null> =>
  async (tx, { scope: { accountId } }) => {
    const isMember = (await shareRole(tx, accountId, person.personId)) !== null;
    if (!isMember || !(await switchSession(tx, person, accountId))) {
      throw new FlorinError('not_found', 'You are not a member of an account with this id.');
    }
    return { value: null, deed: { action: 'session.switched', subject: person.sessionId, detail: {} } };
  };
