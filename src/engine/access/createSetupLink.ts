import { FlorinError } from '../../core/errors.ts';
import { dropOldSetupLinks, insertAccessLink, lockTeam } from '../../storage/access/accessLinks.ts';
import { hasOwner } from '../../storage/access/memberships.ts';
import { generateToken } from '../../vault/tokens.ts';
import type { Actor } from '../audit/audit.ts';
import { perform } from '../perform.ts';
import type { AdminContext } from './accounts.ts';

const setupSeconds = 3_600;

/** Creates a link that makes the first owner. It works once, within an hour. Refused if there is an owner. */
export const createSetupLink = (
  context: AdminContext,
  accountId: string,
  actor: Actor,
): Promise<{ token: string; expiresAt: Date }> =>
  perform(context, { scope: { accountId, environment: null }, actor, address: null }, null, async tx => {
    await lockTeam(tx, accountId);
    if (await hasOwner(tx, accountId)) {
      throw new FlorinError(
        'conflict',
        'The account already has an owner, who can invite others on the Team page of the dashboard.',
      );
    }
    await dropOldSetupLinks(tx, accountId);
    const { token, hash } = generateToken();
    const { id } = context.ids.next('invitation', context.clock.nowMs());
    const { expiresAt } = await insertAccessLink(tx, {
      accountId,
      id,
      tokenHash: hash,
      kind: 'setup',
      role: 'owner',
      email: null,
      createdBy: null,
      livesSeconds: setupSeconds,
    });
    return { value: { token, expiresAt }, deed: { action: 'setup_link.created', subject: id, detail: {} } };
  });

/** The token is in the fragment, which browsers do not send, so it is in no log. */
export const setupUrl = (dashboardUrl: string, token: string): string => `${dashboardUrl}/dashboard/setup#${token}`;
