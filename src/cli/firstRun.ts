import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AdminContext, allPermissions, createAccount, createKey } from '../engine/accounts.ts';
import { firstAccount } from '../storage/accounts.ts';
import { hasAnyKey } from '../storage/keys.ts';
import type { Config } from './config.ts';

export type FirstRun = { accountId: string; key: string };

/** A first account with a sandbox key, so that the first payment is one curl away. Null when there is a key. */
export const prepareFirstRun = async (config: Config, admin: AdminContext): Promise<FirstRun | null> => {
  if (!config.roles.includes('api') || (await hasAnyKey(admin.db))) return null;
  // A first start that was killed between the two may have left an account without a key.
  const account =
    (await firstAccount(admin.db)) ??
    (await createAccount(admin, { name: 'Default', plan: 'starter', rateLimit: null, burst: null }));
  const { key } = await createKey(admin, {
    accountId: account.id,
    environment: 'sandbox',
    name: 'First sandbox key',
    scopes: allPermissions,
    ipAllow: null,
    expiresAt: null,
  });
  return { accountId: account.id, key };
};

/** Where secrets go when nobody is looking at a terminal. */
export const writeFirstRun = async (config: Config, firstRun: FirstRun): Promise<string> => {
  const path = join(config.dataDir, 'first-run');
  const text = `account ${firstRun.accountId}\nsandbox_key ${firstRun.key}\n`;
  await writeFile(path, text, { mode: 0o600, flag: 'w' });
  return path;
};
