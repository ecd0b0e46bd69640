import type { Queryable } from '../../storage/database.ts';
import { putDeploymentValue, readDeploymentValue } from '../../storage/deployment.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Context } from '../context.ts';

const name = 'dashboard_url';

type Parts = Pick<Context, 'vault'> & { readonly db: Queryable };

/**
 * Stores the address of the dashboard, for processes that do not serve it. With a seal: links that set a password lead
 * there, and whoever could change it would get their tokens.
 */
export const putDashboardUrl = ({ db, vault }: Parts, url: string): Promise<void> =>
  putDeploymentValue(db, name, `${url} ${vault.rowSeal('deployment', [name, url]).toString('hex')}`);

const readSealed = async ({ db, vault }: Parts): Promise<{ url: string; isGenuine: boolean } | null> => {
  const value = await readDeploymentValue(db, name);
  if (value === null) return null;
  const [url = '', seal = ''] = value.split(' ');
  return { url, isGenuine: vault.isRowSeal('deployment', [name, url], Buffer.from(seal, 'hex')) };
};

/** Null before the first start, and if somebody changed it in the database. */
export const readDashboardUrl = async (parts: Parts): Promise<string | null> => {
  const stored = await readSealed(parts);
  return stored?.isGenuine ? stored.url : null;
};

/** With the seal of another master key, unless somebody changed it. */
export const resealDashboardUrl = async (parts: Parts, next: Vault): Promise<void> => {
  const url = await readDashboardUrl(parts);
  if (url !== null) await putDashboardUrl({ db: parts.db, vault: next }, url);
};

export const dashboardUrlFaults = async (parts: Parts): Promise<string[]> => {
  const stored = await readSealed(parts);
  return stored === null || stored.isGenuine
    ? []
    : ['the address of the dashboard was changed in the database: restart Florin'];
};
