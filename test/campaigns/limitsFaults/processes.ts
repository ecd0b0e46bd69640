import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { openAdmin, openStorage, probeConnection } from '../../../src/cli/compose.ts';
import { loadConfig } from '../../../src/cli/config.ts';
import { permissions } from '../../../src/core/access/rights.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createAccount } from '../../../src/engine/access/accounts.ts';

import { type PostgresConnection, startPostgres } from '../../../src/local/postgres/startPostgres.ts';
import { parseExposition } from '../../metrics/parseExposition.ts';
import { seriesValue } from '../../metrics/scrape.ts';
import { freePort } from '../../support/freePort.ts';
import { createKey } from '../../support/operator.ts';
import { launchRedis } from '../../support/redisProcess.ts';
import { type Api, createApi } from '../chaos/api.ts';
import { launchFlorin, stopFlorin, within } from '../chaos/florinProcess.ts';
import type { Door, World } from './limitsFaultsRun.ts';

const readyTimeoutMs = 120_000;
/** Within this time after its return, the limit holds again. */
const backMs = 1_000;

const urlOf = ({ user, password, database, host, port }: PostgresConnection): string =>
  `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

const figuresAt = (port: number): Door['figures'] => {
  const url = `http://127.0.0.1:${port}/metrics`;
  return async () => {
    const families = parseExposition(await (await fetch(url)).text());
    const countedAlone = seriesValue(families, 'florin_limits_counted_alone_total');
    return { isShared: seriesValue(families, 'florin_limits_shared') === 1, countedAlone: countedAlone! };
  };
};

/** A process as an operator would start it. */
const openDoor = async (dataDir: string, env: NodeJS.ProcessEnv, stack: AsyncDisposableStack) => {
  const metricsPort = await freePort();
  const florin = launchFlorin(dataDir, [], { env: { ...env, FLORIN_METRICS_PORT: String(metricsPort) } });
  stack.defer(async () => void (await stopFlorin(florin, dataDir)));
  const ready = await within(florin.ready, readyTimeoutMs);
  if (!ready) throw new Error(`Florin was not ready within ${readyTimeoutMs} ms:\n${florin.output()}`);
  const apis = new Map<string, Api>();
  stack.defer(() => {
    for (const api of apis.values()) api.close();
  });
  const apiOf = (key: string): Api => {
    const api = apis.get(key) ?? createApi({ url: ready.sandboxUrl, ca: ready.ca, key });
    apis.set(key, api);
    return api;
  };
  const ask: Door['ask'] = async key => (await apiOf(key).call('GET', '/v1/webhooks')).status;
  return { ask, figures: figuresAt(metricsPort), output: florin.output };
};

export type Processes = World & { readonly outputs: readonly (() => string)[] };

/** Two API processes over one database and one Redis. Redis stays away for so long. */
export const startProcesses = async (
  room: string,
  awayMs: () => number,
  stack: AsyncDisposableStack,
): Promise<Processes> => {
  await mkdir(join(room, 'database'));
  const database = await startPostgres({ dataDir: join(room, 'database'), log: silentLog, probe: probeConnection });
  stack.defer(() => database.stop());
  const redis = await launchRedis();
  stack.defer(redis.end);
  const env = {
    DATABASE_URL: urlOf(database.service),
    FLORIN_MIGRATE_DATABASE_URL: urlOf(database.owner),
    FLORIN_MASTER_KEY: randomBytes(32).toString('hex'),
    FLORIN_ROLES: 'api',
    REDIS_URL: redis.url,
  };
  // One after the other: the first makes the tables.
  const doors = [];
  for (const name of ['one', 'two']) doors.push(await openDoor(join(room, name), env, stack));

  const config = await loadConfig({ env, cwd: room });
  const storage = await openStorage(config, silentLog);
  stack.defer(() => storage.stop());
  const admin = await openAdmin(config, storage);
  return {
    doors,
    outputs: doors.map(({ output }) => output),
    redis: {
      ...redis,
      async empty() {
        const client = createClient({ socket: { host: '127.0.0.1', port: redis.port } });
        await client.connect();
        await client.sendCommand(['FLUSHALL']);
        client.destroy();
      },
    },
    async account({ perMinute, burst }) {
      const { id } = await createAccount(admin, { name: 'Shop', plan: 'enterprise', rateLimit: perMinute, burst });
      const rest = { name: 'campaign', scopes: permissions, ipAllow: null, expiresAt: null };
      return (await createKey(admin, { accountId: id, environment: 'sandbox', ...rest })).key;
    },
    untilBack: () => pause(backMs),
    away: () => pause(awayMs()),
  };
};
