import type pg from 'pg';
import { names } from '../../../src/local/postgres/createCluster.ts';
import type { Forgery } from './forgeries.ts';

/** What an act does as the service's own role, with triggers and foreign keys: in a transaction that is taken back. */
export type AsService = { readonly isAllowed: boolean; readonly why: string };

/**
 * Tries an act as the service's own role. What its rights and the triggers allow is then done by the strongest role, so
 * nothing that the service could do is left out.
 */
export const tryAsService = async (client: pg.Client, forgery: Forgery): Promise<AsService> => {
  await client.query('begin');
  try {
    await client.query(`set local session_replication_role = origin; set local lock_timeout = '5s'`);
    await client.query(`set local role ${names.service}`);
    await forgery.act(client);
    // Foreign keys that wait for the commit.
    await client.query('set constraints all immediate');
    return { isAllowed: true, why: '' };
  } catch (error) {
    return { isAllowed: false, why: (error as Error).message };
  } finally {
    await client.query('rollback');
  }
};
