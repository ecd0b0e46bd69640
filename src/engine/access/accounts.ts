import { environments, type Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import type { Plan } from '../../core/plans.ts';
import { slugs } from '../../core/registry/backings.ts';
import { readSupportContact } from '../../core/supportContact.ts';
import {
  type AccountRow,
  firstAccount,
  insertAccount,
  insertSettings,
  isOnlyAccount,
  readAccount,
  readCallbackSecret,
} from '../../storage/access/accounts.ts';
import { accountsOf, putMembership } from '../../storage/access/memberships.ts';
import { lockPerson } from '../../storage/access/people.ts';
import type { Queryable } from '../../storage/database.ts';
import { generateWebhookSecret } from '../../vault/secrets.ts';
import { type Actor, operatorActor } from '../audit/audit.ts';
import { sealFirstGate } from '../chain/restoreGate.ts';
import type { Context } from '../context.ts';
import { perform } from '../perform.ts';
import { refuseUnsealed } from '../seals/sealOlderRows.ts';
import { testTreasury } from '../wallets/treasury.ts';
import { putWallet } from '../wallets/walletSeal.ts';
import { callbackSecretContext } from '../webhooks/webhookSecrets.ts';

/** What managing accounts needs. The command line has no more than this. */
export type AdminContext = Pick<Context, 'db' | 'clock' | 'ids' | 'vault' | 'floors' | 'isFinished'>;
/** A single step, alone or within a transaction. */
type Step = { readonly db: Queryable };

export const noSuchAccount = (id: string): FlorinError => new FlorinError('not_found', `No account has the id ${id}.`);

/** Few enough for a list. */
const maxOwned = 100;

const giveOwner = async (tx: Queryable, accountId: string, personId: string): Promise<void> => {
  if (!(await lockPerson(tx, personId)))
    throw new FlorinError('unauthorized', 'Your session has ended. Sign in again.');
  const owned = (await accountsOf(tx, personId)).filter(({ role }) => role === 'owner');
  if (owned.length >= maxOwned) {
    throw new FlorinError('conflict', `You own ${maxOwned} accounts, which is the maximum. Use one of them.`);
  }
  await putMembership(tx, accountId, personId, 'owner');
};

export const createAccount = (
  context: AdminContext,
  request: { name: string; plan: Plan; rateLimit: number | null; burst: number | null },
  actor: Actor = operatorActor,
  origin: { readonly ownerId: string | null; readonly address: string | null } = { ownerId: null, address: null },
): Promise<AccountRow> => {
  if (request.plan !== 'enterprise' && (request.rateLimit !== null || request.burst !== null)) {
    throw invalid('rateLimit', 'Only an Enterprise account can have its own limits.');
  }
  const { id, ms } = context.ids.next('account', context.clock.nowMs());
  const account: AccountRow = { ...request, id, createdAt: new Date(ms) };
  const acting = { scope: { accountId: id, environment: null }, actor, address: origin.address };
  return perform(context, acting, null, async tx => {
    await refuseUnsealed({ ...context, db: tx });
    await insertAccount(tx, account);
    // Nothing else shows later that a gate is missing because there was no start yet.
    if (await isOnlyAccount(tx)) await sealFirstGate({ db: tx, vault: context.vault });
    for (const environment of environments) {
      const sealed = context.vault.seal(generateWebhookSecret(), callbackSecretContext(id, environment));
      await insertSettings(tx, id, environment, sealed);
    }
    const scope: Scope = { accountId: id, environment: 'sandbox' };
    for (const network of slugs) {
      const wallet = { network, kind: 'forwarder', destination: testTreasury(id) } as const;
      await putWallet(context, tx, scope, { ...wallet, waitSeconds: 0, requestedBy: null });
    }
    if (origin.ownerId !== null) await giveOwner(tx, id, origin.ownerId);
    const { name, plan } = account;
    return { value: account, deed: { action: 'account.created', subject: id, detail: { name, plan } } };
  });
};

/** The named account, or the first one if none is named. */
export const resolveAccount = async (context: Step, id: string | null): Promise<AccountRow> => {
  const account = id === null ? await firstAccount(context.db) : await readAccount(context.db, id);
  if (!account) throw id === null ? new FlorinError('not_found', 'There is no account yet.') : noSuchAccount(id);
  return account;
};

/**
 * The origin as browsers write it; null if it is not an https origin. The database has the same rule. The URL parser
 * alone would accept characters that end a header value, wildcards, and a trailing dot, which makes another origin.
 */
const originOf = (text: string): string | null => {
  const url = /^https:\/\/[^\s\\/?#@]+\/?$/i.test(text) ? URL.parse(text) : null;
  const isOrigin = /^https:\/\/(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?$/.test(
    url?.origin ?? '',
  );
  return url !== null && isOrigin && url.origin.length <= maxOriginLength ? url.origin : null;
};

const maxOriginLength = 300;
const maxOrigins = 20;

export const readOrigins = (given: readonly string[]): string[] => {
  const refused = given.find(text => originOf(text) === null);
  if (refused !== undefined) {
    throw invalid(
      'checkoutOrigins',
      `${refused} is not an origin. Write https:// and a host, with no path, no wildcard and no dot at the end.`,
    );
  }
  const origins = [...new Set(given.map(text => originOf(text)!))];
  if (origins.length > maxOrigins) throw invalid('checkoutOrigins', `Give at most ${maxOrigins} origins.`);
  return origins;
};

export const readContact = (given: string): string => {
  const contact = readSupportContact(given);
  if (contact !== null) return contact.text;
  throw invalid(
    'supportContact',
    `${given} is not a contact. Write an e-mail address, or https:// and the address of a page, of at most 300 characters.`,
  );
};

/** The secret that signs deliveries to callbackUrl. */
export const revealCallbackSecret = async (
  context: Step & Pick<AdminContext, 'vault'>,
  scope: Scope,
): Promise<string> => {
  const sealed = await readCallbackSecret(context.db, scope.accountId, scope.environment);
  if (!sealed) throw noSuchAccount(scope.accountId);
  return context.vault.open(sealed, callbackSecretContext(scope.accountId, scope.environment)).toString('utf8');
};
