import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { toHex } from 'viem';
import { parseMasterKey } from '../../../src/vault/masterKey.ts';
import { createVault } from '../../../src/vault/vault.ts';
import type { Origins } from './customers.ts';
import type { Room } from './scene.ts';

/** Salts are derived as Florin does: sweeps only make facts, and what they moved is judged by the chain alone. */
export const openOrigins = async ({ dataDir }: Room, connection: pg.ClientConfig): Promise<Origins> => {
  // A connection of its own: payments are made while others wait and check. It keeps no process alive.
  const pool = new pg.Pool({ ...connection, max: 1, allowExitOnIdle: true });
  pool.on('error', () => {});
  const vault = createVault(parseMasterKey(await readFile(join(dataDir, 'keys', 'master'), 'utf8')));
  return async id => {
    const { rows } = await pool.query(
      'select account_id, environment, treasury, derivation_index::text as index from payments where id = $1',
      [id],
    );
    const { account_id: accountId, environment, treasury, index } = rows[0];
    return { treasury, salt: toHex(vault.salt({ accountId, environment }, BigInt(index))) };
  };
};
