import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Scene } from './scene.ts';

const run = promisify(execFile);

/** pgbench comes with the distribution's PostgreSQL; the embedded package has none. */
export const findPgbench = (): string => {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort().reverse() : [];
  const candidates = [
    ...versions.map(version => join(debian, version, 'bin', 'pgbench')),
    ...(process.env.PATH ?? '').split(':').map(folder => join(folder, 'pgbench')),
  ];
  const found = candidates.find(existsSync);
  if (!found)
    throw new Error(
      'pgbench is needed. On Debian: apt-get install postgresql-contrib; on macOS: brew install postgresql',
    );
  return found;
};

/**
 * The limit of the database: one payment with its event, delivery and delta in each transaction, as one prepared
 * statement with the columns and sizes that the service writes. One statement per transaction is the best pgbench can
 * do.
 */
const script = (accountId: string, endpointId: string): string => `\\set n random(1, 9223372036854775806)
with fresh as (
  insert into payments (account_id, environment, id, amount, decimals, currency, network, caip2, contract, address, wallet_kind,
    treasury, derivation_index, mac, row_seal, tiers, tolerance_bps, late_policy, late_window_seconds, metadata, created_at,
    expires_at, wake_at)
  select '${accountId}', 'sandbox', 'pay_' || substr(k, 1, 26), 12500000, 6, 'USDC', 'base', 'eip155:31337',
    '0xC8f69cfAFe638A2Cb93D8c9dd8E61D0326989727', '0x' || k || substr(k, 1, 8), 'forwarder',
    '0x6bA5e65415F4C972B5204Ffd1D1108503fcce040', :n, decode(k || k, 'hex'), decode(k || k, 'hex'), '[{"atLeast":"0","kind":"depth","depth":2}]', 0,
    'accept', 2592000, '{"order":"${'x'.repeat(20)}"}', now(), now() + interval '1 hour', now() + interval '1 hour'
  from md5(:n::text || :client_id::text || random()::text) k
  returning account_id, environment, id, currency, network, mac, created_at
), announced as (
  insert into events (account_id, environment, id, payment_id, sequence, type, status, body, row_seal, created_at)
  select account_id, environment, 'evt_' || substr(id, 5), id, 1, 'payment.created', 'pending', repeat('x', 1040), mac, created_at
  from fresh
  returning account_id, environment, id, created_at
), sent as (
  insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
  select account_id, environment, delivery_id(id, '${endpointId}'), id, '${endpointId}', created_at, created_at from announced
)
insert into payment_deltas (account_id, environment, status, currency, network, hour, change)
select account_id, environment, 'pending', currency, network, date_trunc('hour', created_at, 'UTC'), 1 from fresh;
`;

/** Transactions per second of pgbench on the same server, with the same durability. */
export const runPgbench = async (scene: Scene, endpointId: string, seconds: number): Promise<number> => {
  const file = join(scene.dataDir, 'pgbench.sql');
  await writeFile(file, script(scene.accountId, endpointId));
  const { host, port, user, password, database } = scene.superuser;
  const words = ['-n', '-M', 'prepared', '-c', '64', '-j', '2', '-T', String(seconds), '-f', file];
  const { stdout } = await run(findPgbench(), [...words, '-h', host, '-p', String(port), '-U', user, 'florin'], {
    env: { ...process.env, PGPASSWORD: password },
  });
  const tps = /tps = ([\d.]+)/.exec(stdout)?.[1];
  if (!tps) throw new Error(`pgbench reported no rate for ${database}: ${stdout}`);
  return Number(tps);
};
