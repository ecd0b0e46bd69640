import type { Role } from '../../core/access/rights.ts';
import type { FlorinError } from '../../core/errors.ts';
import { withdrawInvitations } from '../../storage/access/accessLinks.ts';
import { type KeyRow, listMadeKeys, revokeKey } from '../../storage/access/keys.ts';
import { removeMembership } from '../../storage/access/memberships.ts';
import { endSessions } from '../../storage/access/sessions.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Deed } from '../audit/acting.ts';

/** What becomes of the keys that a member made, once they are gone. */
export const keyFates = ['keep', 'revoke'] as const;
export type KeyFate = (typeof keyFates)[number];

type Leaving = { readonly accountId: string; readonly id: string; readonly email: string; readonly role: Role };

/** Invalidates the links of these invitations. Returns those that were open. */
export const withdrawLinks = async (
  tx: Queryable,
  accountId: string,
  by: { id?: string; email?: string; createdBy?: string },
): Promise<{ roles: Role[]; deeds: Deed[] }> => {
  const gone = await withdrawInvitations(tx, accountId, by);
  return {
    roles: gone.map(({ role }) => role),
    deeds: gone.map(({ id, email, role }) => ({
      action: 'invitation.withdrawn',
      subject: id,
      detail: { email, role },
    })),
  };
};

/**
 * Removes a member of an account, whose team the caller has locked. Whoever removes them decides about the keys that
 * they made, because a key outlives its maker: `undecided` is the refusal if nothing was said about such keys.
 */
export const endMembership = async (
  tx: Queryable,
  { accountId, id, email, role }: Leaving,
  fate: KeyFate | undefined,
  undecided: (made: readonly KeyRow[]) => FlorinError,
): Promise<{ deed: Deed; followed: Deed[] }> => {
  const made = await listMadeKeys(tx, accountId, id);
  if (made.length > 0 && fate === undefined) throw undecided(made);
  const revoked: Deed[] = [];
  for (const { id: key, name, hint, environment } of fate === 'revoke' ? made : []) {
    await revokeKey(tx, key);
    revoked.push({ action: 'key.revoked', subject: key, detail: { name, hint }, in: { accountId, environment } });
  }
  await endSessions(tx, id, 'removed', { accountId });
  await removeMembership(tx, accountId, id);
  const { deeds } = await withdrawLinks(tx, accountId, { createdBy: id });
  const detail = { email, role, keysKept: made.length - revoked.length };
  return { deed: { action: 'person.removed', subject: id, detail }, followed: [...revoked, ...deeds] };
};
