import type { AuditAction } from '../auditActions.ts';

/**
 * While a change of a production wallet waits, owners and how they sign in stay as they are. For as long after they
 * changed, no wallet does. Two owners together are not bound by either.
 */
export const guardHours = 24;

/** An owner counts as a second one after this long: a thief's own second owner must be seen on the team for a week. */
export const establishedDays = 7;

/**
 * How a person signed in before it changed works this long: until a wallet change that is requested as soon as it may be is in
 * force.
 */
export const earlierHours = 2 * guardHours;

/** What changes how a person signs in. */
export const signInChanges = [
  'person.passkey_added',
  'person.passkey_removed',
  'person.password_changed',
  'person.recovered',
  'person.recovery_codes_renewed',
  'person.totp_added',
  'person.totp_removed',
] as const satisfies readonly AuditAction[];

/** After these, no wallet changes for a while. A restored sign-in also comes while a wallet change waits, to stop it. */
export const holdingSignInChanges = [
  ...signInChanges,
  'person.sign_in_restored',
] as const satisfies readonly AuditAction[];

/** What changes who is an owner, if the detail has that role. */
export const ownerChanges = [
  'invitation.created',
  'person.joined',
  'person.removed',
  'person.role_changed',
] as const satisfies readonly AuditAction[];

const has = (actions: readonly AuditAction[], action: AuditAction): boolean => actions.includes(action);

/** Whether a deed changes who is an owner, or how the person who did it signs in. The statements have the same rule. */
export const guarded = ({
  action,
  detail: { role, from, to },
}: {
  readonly action: AuditAction;
  readonly detail: Readonly<Record<string, unknown>>;
}): 'owners' | 'sign-in' | null => {
  if (has(signInChanges, action)) return 'sign-in';
  return has(ownerChanges, action) && [role, from, to].includes('owner') ? 'owners' : null;
};
