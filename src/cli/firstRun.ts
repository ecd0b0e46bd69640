import { access, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { permissions } from '../core/access/rights.ts';
import { type AdminContext, createAccount } from '../engine/access/accounts.ts';
import { createSetupLink } from '../engine/access/createSetupLink.ts';
import { createKey, endKey } from '../engine/access/keys.ts';
import type { Acting } from '../engine/audit/acting.ts';
import { systemActor } from '../engine/audit/audit.ts';
import { perform } from '../engine/perform.ts';
import { writeFileAtomically } from '../local/writeFileAtomically.ts';
import { firstAccount } from '../storage/access/accounts.ts';
import { hasAnyKey, listKeys } from '../storage/access/keys.ts';
import { hasOwner } from '../storage/access/memberships.ts';
import type { Config } from './config.ts';

export type FirstRun = { accountId: string; key: string };

const keyName = 'First sandbox key';

/**
 * Exists from before the first key is created until it was shown. After a crash in between, the next start creates
 * another key.
 */
const unfinishedPath = (config: Config): string => join(config.dataDir, 'first-run.unfinished');

const isUnfinished = (config: Config): Promise<boolean> =>
  access(unfinishedPath(config)).then(
    () => true,
    () => false,
  );

/** Florin itself, in the sandbox of an account. */
const actingIn = (accountId: string): Acting => ({
  scope: { accountId, environment: 'sandbox' },
  actor: systemActor,
  address: null,
});

/** A key that was stored but never shown cannot be used. */
const endUnseenKeys = async (admin: AdminContext, accountId: string): Promise<void> => {
  for (const key of await listKeys(admin.db, accountId)) {
    if (key.name !== keyName || key.revokedAt) continue;
    await perform(admin, actingIn(accountId), null, endKey(key.id));
  }
};

/** Creates a first account with a sandbox key, so that one curl command creates a payment. Null if there is a key. */
export const prepareFirstRun = async (config: Config, admin: AdminContext): Promise<FirstRun | null> => {
  if (!config.roles.includes('api')) return null;
  if ((await hasAnyKey(admin.db)) && !(await isUnfinished(config))) return null;
  // A first start that was killed may have left an account without a key, or with a key that was never shown.
  const account =
    (await firstAccount(admin.db)) ??
    (await createAccount(admin, { name: 'Default', plan: 'starter', rateLimit: null, burst: null }, systemActor));
  await endUnseenKeys(admin, account.id);
  await writeFileAtomically(unfinishedPath(config), '', 0o600);
  const work = createKey(admin, { name: keyName, scopes: permissions }, null);
  const { key } = await perform(admin, actingIn(account.id), null, work);
  return { accountId: account.id, key };
};

/** Call this after the key was shown. */
export const finishFirstRun = (config: Config): Promise<void> => rm(unfinishedPath(config), { force: true });

/**
 * The token of the link that creates the first owner; null if there is an owner, or if this process does not serve the
 * API.
 */
export const prepareSetupLink = async (config: Config, admin: AdminContext): Promise<string | null> => {
  if (!config.roles.includes('api') || (await hasOwner(admin.db, null))) return null;
  const account = await firstAccount(admin.db);
  return account && (await createSetupLink(admin, account.id, systemActor)).token;
};

/** Writes the secrets to a file if there is no terminal. Keeps what an earlier start wrote, except for the link. */
export const writeFirstRun = async (
  config: Config,
  { firstRun, setupLink }: { firstRun: FirstRun | null; setupLink: string | null },
): Promise<string> => {
  const path = join(config.dataDir, 'first-run');
  const before = firstRun ? '' : await readFile(path, 'utf8').catch(() => '');
  const lines = before.split('\n').filter(line => line !== '' && !line.startsWith('setup_link '));
  if (firstRun) lines.push(`account ${firstRun.accountId}`, `sandbox_key ${firstRun.key}`);
  if (setupLink !== null) lines.push(`setup_link ${setupLink}`);
  await writeFileAtomically(path, `${lines.join('\n')}\n`, 0o600);
  await finishFirstRun(config);
  return path;
};
