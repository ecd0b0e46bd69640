import { createHash } from 'node:crypto';
import { addressOfBytes, isZeroAddress, parseEvmAddress } from '../chains/evm/address.ts';
import { deriveXpubAddress } from '../chains/evm/xpub.ts';
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
import { insertWallet } from '../storage/wallets.ts';
import { generateApiKey } from '../vault/apiKeys.ts';
import { generateWebhookSecret } from '../vault/secrets.ts';
import type { Context } from './context.ts';
import { callbackSecretContext } from './webhookSecrets.ts';

/** What managing accounts needs; the command line has no more than this. */
export type AdminContext = Pick<Context, 'db' | 'clock' | 'ids' | 'vault'>;
/** What one step of that needs, alone or within a transaction. */
type Step = { readonly db: Queryable };

const noSuchAccount = (id: string): FlorinError => new FlorinError('not_found', `No account has the id ${id}.`);
const noSuchKey = (id: string): FlorinError => new FlorinError('not_found', `No key has the id ${id}.`);

/**
 * Where a new account's sandbox payments go until the merchant says otherwise: an address of no known key. Test tokens
 * arrive there for all to see, and nobody has to set up a wallet before the first test payment.
 */
export const testTreasury = (accountId: string): string =>
  addressOfBytes(createHash('sha256').update(`florin test treasury ${accountId}`).digest().subarray(12));

const putWallet = async (
  context: AdminContext,
  tx: Queryable,
  scope: Scope,
  wallet: { network: string; kind: 'forwarder' | 'xpub'; destination: string },
): Promise<void> => {
  await insertWallet(tx, scope, { ...wallet, mac: context.vault.walletMac({ ...scope, ...wallet }) });
};

export const createAccount = (
  context: AdminContext,
  request: { name: string; plan: Plan; rateLimit: number | null; burst: number | null },
): Promise<AccountRow> => {
  if (request.plan !== 'enterprise' && (request.rateLimit !== null || request.burst !== null)) {
    throw invalid('rateLimit', 'Only an Enterprise account has limits of its own.');
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
      await putWallet(context, tx, scope, { network, kind: 'forwarder', destination: testTreasury(id) });
    }
    return account;
  });
};

/** The account named, or the first one when none is. */
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

const addKey = async (context: AdminContext, tx: Queryable, request: KeyRequest): Promise<KeyRow & { key: string }> => {
  const { key, hash, hint } = generateApiKey(request.environment);
  const { id, ms } = context.ids.next('key', context.clock.nowMs());
  const row = await insertKey(tx, { ...request, scopes: [...request.scopes], id, hash, hint, createdAt: new Date(ms) });
  return { ...row, key };
};

/** The one moment at which a key is known in clear. */
export const createKey = async (context: AdminContext, request: KeyRequest): Promise<KeyRow & { key: string }> => {
  await resolveAccount(context, request.accountId);
  const refused = request.ipAllow?.find(block => readAddressBlock(block) === null);
  if (refused !== undefined) throw invalid('ipAllow', `${refused} is not an IP address or a CIDR block.`);
  return context.db.transaction(tx => addKey(context, tx, request));
};

export const allPermissions: readonly Permission[] = permissions;

/** For how long a rotated key may live on beside its successor. */
export const rotationOverlaps = { '0': 0, '1h': 3_600, '24h': 86_400, '7d': 604_800 } as const;

export const rotateKey = (
  context: AdminContext,
  id: string,
  overlapSeconds: number,
): Promise<KeyRow & { key: string }> =>
  context.db.transaction(async tx => {
    const old = await lockKey(tx, id);
    if (!old) throw noSuchKey(id);
    if (old.revokedAt) throw new FlorinError('conflict', 'The key is revoked; create a new one instead.');
    if (old.successorId)
      throw new FlorinError('conflict', `The key was already rotated: its successor is ${old.successorId}.`);
    const { accountId, environment, name, scopes, ipAllow, expiresAt } = old;
    const successor = await addKey(context, tx, { accountId, environment, name, scopes, ipAllow, expiresAt });
    await succeedKey(tx, id, successor.id, overlapSeconds);
    return successor;
  });

export const endKey = async (context: AdminContext, id: string): Promise<KeyRow> => {
  const row = await revokeKey(context.db, id);
  if (!row) throw noSuchKey(id);
  return row;
};

export const setWallet = async (
  context: AdminContext,
  scope: Scope,
  network: string,
  destination: { treasury: string } | { xpub: string },
): Promise<{ kind: 'forwarder' | 'xpub'; destination: string }> => {
  await resolveAccount(context, scope.accountId);
  if ('xpub' in destination) {
    deriveXpubAddress(destination.xpub, 0);
    const wallet = { kind: 'xpub' as const, destination: destination.xpub };
    await context.db.transaction(tx => putWallet(context, tx, scope, { network, ...wallet }));
    return wallet;
  }
  const treasury = parseEvmAddress(destination.treasury);
  if (!treasury || isZeroAddress(treasury)) {
    throw invalid(
      'treasury',
      'The treasury must be an EVM address other than zero, with a valid checksum if it has mixed case.',
    );
  }
  const wallet = { kind: 'forwarder' as const, destination: treasury };
  await context.db.transaction(tx => putWallet(context, tx, scope, { network, ...wallet }));
  return wallet;
};

/**
 * As browsers write it; null for what is no https origin. The database has the same rule: the parser lets through what would
 * end a header's value, stars, which stand for more than one origin, and a dot at the end, which makes it another one.
 */
const originOf = (text: string): string | null => {
  const url = /^https:\/\/[^\s\\/?#@]+\/?$/i.test(text) ? URL.parse(text) : null;
  const isOrigin = /^https:\/\/(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?$/.test(
    url?.origin ?? '',
  );
  return url !== null && isOrigin && url.origin.length <= longestOrigin ? url.origin : null;
};

const longestOrigin = 300;
const mostOrigins = 20;

/** Says whose pages may show the checkout in a frame: these, and none that were named before. */
export const setCheckoutOrigins = async (context: Step, scope: Scope, given: readonly string[]): Promise<string[]> => {
  await resolveAccount(context, scope.accountId);
  const refused = given.find(text => originOf(text) === null);
  if (refused !== undefined) {
    throw invalid(
      'checkoutOrigin',
      `${refused} is not an origin. Write https:// and a host, with no path, no wildcard and no dot at the end.`,
    );
  }
  const origins = [...new Set(given.map(text => originOf(text)!))];
  if (origins.length > mostOrigins) throw invalid('checkoutOrigin', `At most ${mostOrigins} origins can be named.`);
  await updateCheckoutOrigins(context.db, scope, origins);
  return origins;
};

/** Says where payers ask about money that is stuck; null takes it back. */
export const setSupportContact = async (context: Step, scope: Scope, given: string | null): Promise<string | null> => {
  await resolveAccount(context, scope.accountId);
  const contact = given === null ? null : readSupportContact(given);
  if (given !== null && contact === null) {
    throw invalid(
      'supportContact',
      `${given} is not a contact. Write an e-mail address, or https:// and the address of a page, of at most 300 characters.`,
    );
  }
  const text = contact?.text ?? null;
  await updateSupportContact(context.db, scope, text);
  return text;
};

export type AccountChange = {
  readonly checkoutOrigins?: readonly string[] | undefined;
  readonly supportContact?: string | null | undefined;
};

/** All that is named, or nothing of it where a part is refused. Answers with what was set. */
export const updateAccount = (context: AdminContext, scope: Scope, change: AccountChange): Promise<AccountChange> =>
  context.db.transaction(async db => {
    const { checkoutOrigins, supportContact } = change;
    return {
      ...(checkoutOrigins && { checkoutOrigins: await setCheckoutOrigins({ db }, scope, checkoutOrigins) }),
      ...(supportContact !== undefined && { supportContact: await setSupportContact({ db }, scope, supportContact) }),
    };
  });

/** The secret that signs what goes to callbackUrl. */
export const revealCallbackSecret = async (context: AdminContext, scope: Scope): Promise<string> => {
  const sealed = await readCallbackSecret(context.db, scope.accountId, scope.environment);
  if (!sealed) throw noSuchAccount(scope.accountId);
  return context.vault.open(sealed, callbackSecretContext(scope.accountId, scope.environment)).toString('utf8');
};
