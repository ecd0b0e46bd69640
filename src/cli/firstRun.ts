import { access, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AdminContext, allPermissions, createAccount, createKey, endKey } from '../engine/accounts.ts';
import { systemActor } from '../engine/dashboard/audit.ts';
import { createSetupLink } from '../engine/dashboard/createSetupLink.ts';
import { writeFileAtomically } from '../local/writeFileAtomically.ts';
import { firstAccount } from '../storage/accounts.ts';
import { hasOwner } from '../storage/dashboard/people.ts';
import { hasAnyKey, listKeys } from '../storage/keys.ts';
import type { Config } from './config.ts';

export type FirstRun = { accountId: string; key: string };

const keyName = 'First sandbox key';

/** Stands from before the first key is made until it was handed over: a start that is killed in between makes another. */
const unfinishedPath = (config: Config): string => join(config.dataDir, 'first-run.unfinished');

const isUnfinished = (config: Config): Promise<boolean> =>
  access(unfinishedPath(config)).then(
    () => true,
    () => false,
  );

/** A key that was stored and never shown can be used by nobody. */
const endUnseenKeys = async (admin: AdminContext, accountId: string): Promise<void> => {
  for (const key of await listKeys(admin.db, accountId)) {
    if (key.name === keyName && !key.revokedAt) await endKey(admin, key.id, systemActor);
  }
};

/** A first account with a sandbox key, so that the first payment is one curl away. Null when there is a key. */
export const prepareFirstRun = async (config: Config, admin: AdminContext): Promise<FirstRun | null> => {
  if (!config.roles.includes('api')) return null;
  if ((await hasAnyKey(admin.db)) && !(await isUnfinished(config))) return null;
  // A first start that was killed may have left an account without a key, or with one that nobody has seen.
  const account =
    (await firstAccount(admin.db)) ??
    (await createAccount(admin, { name: 'Default', plan: 'starter', rateLimit: null, burst: null }, systemActor));
  await endUnseenKeys(admin, account.id);
  await writeFileAtomically(unfinishedPath(config), '', 0o600);
  const { key } = await createKey(
    admin,
    {
      accountId: account.id,
      environment: 'sandbox',
      name: keyName,
      scopes: allPermissions,
      ipAllow: null,
      expiresAt: null,
    },
    systemActor,
  );
  return { accountId: account.id, key };
};

/** The key has been handed over. */
export const finishFirstRun = (config: Config): Promise<void> => rm(unfinishedPath(config), { force: true });

/** Under which the database keeps where the dashboard is, for commands that print links to it. */
export const dashboardUrlName = 'dashboard_url';

/** The token of a link that makes the first owner; null where there is one, or this process serves nobody. */
export const prepareSetupLink = async (config: Config, admin: AdminContext): Promise<string | null> => {
  if (!config.roles.includes('api') || (await hasOwner(admin.db, null))) return null;
  const account = await firstAccount(admin.db);
  return account && (await createSetupLink(admin, account.id, systemActor)).token;
};

/** Where secrets go when nobody is looking at a terminal. What an earlier start wrote there stays, but for the link. */
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
