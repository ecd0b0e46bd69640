import { readAddressBlock } from '../core/addressBlock.ts';
import { type Environment, environments, type Scope } from '../core/environment.ts';
import { FlorinError, invalid } from '../core/errors.ts';
import { type Permission, permissions } from '../core/permissions.ts';
import type { Plan } from '../core/plans.ts';
import { slugs } from '../core/registry/backings.ts';
import { readSupportContact } from '../core/supportContact.ts';
import {
  type AccountRow,
  firstAccount,
  insertAccount,
  insertSettings,
  readAccount,
  readCallbackSecret,
  updateCheckoutOrigins,
  updateSupportContact,
} from '../storage/accounts.ts';
import type { Queryable } from '../storage/database.ts';
import { insertKey, type KeyRow, lockKey, revokeKey, succeedKey } from '../storage/keys.ts';
import { lockSettings } from '../storage/settings.ts';
import { generateApiKey } from '../vault/apiKeys.ts';
import { generateWebhookSecret } from '../vault/secrets.ts';
import type { Context } from './context.ts';
import { type Acting, recordAction } from './dashboard/acting.ts';
import { type Actor, operatorActor, recordAudit } from './dashboard/audit.ts';
import { testTreasury } from './treasury.ts';
import { putWallet } from './walletSeal.ts';
import { callbackSecretContext } from './webhookSecrets.ts';

/** What managing accounts needs. The command line has no more than this. */
export type AdminContext = Pick<Context, 'db' | 'clock' | 'ids' | 'vault'>;
/** A single step, alone or within a transaction. */
type Step = { readonly db: Queryable };

const noSuchAccount = (id: string): FlorinError => new FlorinError('not_found', `No account has the id ${id}.`);
const noSuchKey = (id: string): FlorinError => new FlorinError('not_found', `No key has the id ${id}.`);

export const createAccount = (
  context: AdminContext,
  request: { name: string; plan: Plan; rateLimit: number | null; burst: number | null },
  actor: Actor = operatorActor,
): Promise<AccountRow> => {
  if (request.plan !== 'enterprise' && (request.rateLimit !== null || request.burst !== null)) {
    throw invalid('rateLimit', 'Only an Enterprise account can have its own limits.');
  }
  return context.db.transaction(async tx => {
    const { id, ms } = context.ids.next('account', context.clock.nowMs());
    const account: AccountRow = { ...request, id, createdAt: new Date(ms) };
    await insertAccount(tx, account);
    for (const environment of environments) {
      const sealed = context.vault.seal(generateWebhookSecret(), callbackSecretContext(id, environment));
      await insertSettings(tx, id, environment, sealed);
    }
    const scope: Scope = { accountId: id, environment: 'sandbox' };
    for (const network of slugs) {
      const wallet = { network, kind: 'forwarder', destination: testTreasury(id) } as const;
      await putWallet(context, tx, scope, { ...wallet, waitSeconds: 0, requestedBy: null });
    }
    const { name, plan } = account;
    await recordAudit(context, tx, {
      accountId: id,
      environment: null,
      actor,
      action: 'account.created',
      subject: id,
      detail: { name, plan },
      address: null,
    });
    return account;
  });
};

/** The named account, or the first one if none is named. */
export const resolveAccount = async (context: Step, id: string | null): Promise<AccountRow> => {
  const account = id === null ? await firstAccount(context.db) : await readAccount(context.db, id);
  if (!account) throw id === null ? new FlorinError('not_found', 'There is no account yet.') : noSuchAccount(id);
  return account;
};

export type KeyRequest = {
  accountId: string;
  environment: Environment;
  name: string;
  scopes: readonly Permission[];
  ipAllow: string[] | null;
  expiresAt: Date | null;
};

type KeyContext = Pick<AdminContext, 'clock' | 'ids'>;

/** Creates a key. Only its hash is stored, so this is the only time the key itself is available. */
export const addKey = async (
  context: KeyContext,
  tx: Queryable,
  request: KeyRequest,
): Promise<KeyRow & { key: string }> => {
  const refused = request.ipAllow?.find(block => readAddressBlock(block) === null);
  if (refused !== undefined) throw invalid('ipAllow', `${refused} is not an IP address or a CIDR block.`);
  const { key, hash, hint } = generateApiKey(request.environment);
  const { id, ms } = context.ids.next('key', context.clock.nowMs());
  const row = await insertKey(tx, { ...request, scopes: [...request.scopes], id, hash, hint, createdAt: new Date(ms) });
  return { ...row, key };
};

const actingOn = ({ accountId, environment }: Scope, actor: Actor): Acting => ({
  scope: { accountId, environment },
  actor,
  address: null,
});

export const createKey = async (
  context: AdminContext,
  request: KeyRequest,
  actor: Actor = operatorActor,
): Promise<KeyRow & { key: string }> => {
  await resolveAccount(context, request.accountId);
  return context.db.transaction(async tx => {
    const row = await addKey(context, tx, request);
    const { name, hint, scopes, ipAllow } = row;
    await recordAction(context, tx, actingOn(row, actor), {
      action: 'key.created',
      subject: row.id,
      detail: { name, hint, scopes, ipAllow, expiresAt: row.expiresAt?.toISOString() ?? null },
    });
    return row;
  });
};

export const allPermissions: readonly Permission[] = permissions;

/** How long, in seconds, a rotated key works beside its successor. */
export const rotationOverlaps = { '0': 0, '1h': 3_600, '24h': 86_400, '7d': 604_800 } as const;

/** Replaces a key that the transaction has locked. */
export const replaceKey = async (
  context: KeyContext,
  tx: Queryable,
  old: KeyRow,
  overlapSeconds: number,
): Promise<KeyRow & { key: string }> => {
  if (old.revokedAt) throw new FlorinError('conflict', 'The key is revoked. Create a new key instead.');
  if (old.successorId)
    throw new FlorinError('conflict', `The key was already rotated. Its successor is ${old.successorId}.`);
  const { accountId, environment, name, scopes, ipAllow, expiresAt } = old;
  const successor = await addKey(context, tx, { accountId, environment, name, scopes, ipAllow, expiresAt });
  await succeedKey(tx, old.id, successor.id, overlapSeconds);
  return successor;
};

export const rotateKey = (
  context: AdminContext,
  id: string,
  overlapSeconds: number,
): Promise<KeyRow & { key: string }> =>
  context.db.transaction(async tx => {
    const old = await lockKey(tx, id);
    if (!old) throw noSuchKey(id);
    const row = await replaceKey(context, tx, old, overlapSeconds);
    await recordAction(context, tx, actingOn(old, operatorActor), {
      action: 'key.rotated',
      subject: id,
      detail: { name: old.name, successorId: row.id, hint: row.hint, overlapSeconds },
    });
    return row;
  });

export const endKey = (context: AdminContext, id: string, actor: Actor = operatorActor): Promise<KeyRow> =>
  context.db.transaction(async tx => {
    const before = await lockKey(tx, id);
    const row = before && (await revokeKey(tx, id));
    if (!row) throw noSuchKey(id);
    if (!before.revokedAt) {
      const { name, hint } = row;
      await recordAction(context, tx, actingOn(row, actor), {
        action: 'key.revoked',
        subject: id,
        detail: { name, hint },
      });
    }
    return row;
  });

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

/** `param` is the name of the parameter in the caller's API. */
export const readOrigins = (param: string, given: readonly string[]): string[] => {
  const refused = given.find(text => originOf(text) === null);
  if (refused !== undefined) {
    throw invalid(
      param,
      `${refused} is not an origin. Write https:// and a host, with no path, no wildcard and no dot at the end.`,
    );
  }
  const origins = [...new Set(given.map(text => originOf(text)!))];
  if (origins.length > maxOrigins) throw invalid(param, `Give at most ${maxOrigins} origins.`);
  return origins;
};

/** Sets the origins whose pages may show the checkout in a frame, replacing the previous ones. */
export const setCheckoutOrigins = async (context: Step, scope: Scope, given: readonly string[]): Promise<string[]> => {
  await resolveAccount(context, scope.accountId);
  const origins = readOrigins('checkoutOrigin', given);
  await updateCheckoutOrigins(context.db, scope, origins);
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

/** Sets where payers can ask about stuck money; null removes it. */
export const setSupportContact = async (context: Step, scope: Scope, given: string | null): Promise<string | null> => {
  await resolveAccount(context, scope.accountId);
  const text = given === null ? null : readContact(given);
  await updateSupportContact(context.db, scope, text);
  return text;
};

export type AccountChange = {
  readonly checkoutOrigins?: readonly string[] | undefined;
  readonly supportContact?: string | null | undefined;
};

/** Applies all given settings, or none if one is refused. Returns what was set. */
export const updateAccount = (context: AdminContext, scope: Scope, change: AccountChange): Promise<AccountChange> =>
  context.db.transaction(async db => {
    const { checkoutOrigins, supportContact } = change;
    const before = await lockSettings(db, scope);
    if (!before) throw noSuchAccount(scope.accountId);
    const set = {
      ...(checkoutOrigins && { checkoutOrigins: await setCheckoutOrigins({ db }, scope, checkoutOrigins) }),
      ...(supportContact !== undefined && { supportContact: await setSupportContact({ db }, scope, supportContact) }),
    };
    const detail = Object.fromEntries(
      Object.entries(set).map(([name, after]) => [name, { before: before[name], after }]),
    );
    await recordAction(context, db, actingOn(scope, operatorActor), {
      action: 'settings.changed',
      subject: null,
      detail,
    });
    return set;
  });

/** The secret that signs deliveries to callbackUrl. */
export const revealCallbackSecret = async (
  context: Step & Pick<AdminContext, 'vault'>,
  scope: Scope,
): Promise<string> => {
  const sealed = await readCallbackSecret(context.db, scope.accountId, scope.environment);
  if (!sealed) throw noSuchAccount(scope.accountId);
  return context.vault.open(sealed, callbackSecretContext(scope.accountId, scope.environment)).toString('utf8');
};
