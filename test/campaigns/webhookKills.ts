import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { probeConnection } from '../../src/cli/compose.ts';
import { silentLog } from '../../src/core/log.ts';
import { sendSignal } from '../../src/local/postgres/processes.ts';
import { type PostgresConnection, startPostgres } from '../../src/local/postgres/startPostgres.ts';
import { type Api, createApi } from './chaos/api.ts';
import { type FlorinProcess, launchFlorin, runFlorin, stopFlorin, within } from './chaos/florinProcess.ts';
import { createRandom } from './fuzz/random.ts';
import { checkDeliveries } from './webhookKills/checkDeliveries.ts';
import type { ReceiversOrder, ReceiversReady, ReceiversStart } from './webhookKills/receivers.ts';

const help = `Creates payments whose events go to receivers of which many are faulty, and kills the process that delivers with
SIGKILL again and again. In the end the receivers' own log is held against the database: no event may be lost.

  --events N   default 200000
  --kills N    default 100
  --faults X   share of requests that something goes wrong with, default 0.3
  --seed N     default 1
  --help`;

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '200000' },
    kills: { type: 'string', default: '100' },
    faults: { type: 'string', default: '0.3' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
const [events, kills, faults, seed] = [values.events, values.kills, values.faults, values.seed].map(Number) as [
  number,
  number,
  number,
  number,
];

const accounts = 8;
const callers = 24;
/** One payment in this many has a callbackUrl. */
const callbackEvery = 10;
const readyTimeoutMs = 60_000;
/** How long the last retries may take once the receivers are healthy and retries are made due. */
const settleTimeoutMs = 900_000;
const [shortestLifeMs, longestLifeMs] = [200, 4_000];

const urlOf = ({ user, password, database, host, port }: PostgresConnection): string =>
  `postgres://${user}:${encodeURIComponent(password)}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;

const startReceivers = async (start: ReceiversStart) => {
  const child = fork(new URL('./webhookKills/receivers.ts', import.meta.url), [], { execArgv: [] });
  child.send(start);
  const [{ port }] = (await once(child, 'message')) as [ReceiversReady];
  return {
    url: `http://127.0.0.1:${port}`,
    tell: (order: ReceiversOrder) => void child.send(order),
    async end(): Promise<void> {
      const exited = once(child, 'exit');
      child.send({ end: true } satisfies ReceiversOrder);
      await exited;
    },
  };
};

type Merchant = { readonly api: Api; readonly endpointPath: string; readonly callbackPath: string };

/** Creates payments as fast as possible until there are enough. Returns the expected receivers of each. */
const createPayments = async (merchants: readonly Merchant[], receiversUrl: string): Promise<Map<string, string[]>> => {
  const expected = new Map<string, string[]>();
  let next = 0;
  const create = async (): Promise<void> => {
    for (let at = next++; at < events; at = next++) {
      const index = at % merchants.length;
      const { api, endpointPath, callbackPath } = merchants[index]!;
      const hasCallback = at % callbackEvery === 0;
      // The first merchant's callbacks go to its endpoint's URL: only the endpoint's delivery is made.
      const path = index === 0 ? endpointPath : callbackPath;
      const body = {
        amount: '25.00',
        currency: 'USDC',
        network: 'base',
        ...(hasCallback ? { callbackUrl: `${receiversUrl}${path}` } : {}),
      };
      const answer = await api.call('POST', '/v1/payments', { body });
      if (answer.status !== 200) throw new Error(`a payment was answered with ${answer.status}`);
      expected.set(String(answer.body.id), hasCallback && index !== 0 ? [endpointPath, callbackPath] : [endpointPath]);
      if (expected.size % 20_000 === 0) console.log(`${expected.size} payments`);
    }
  };
  await Promise.all(Array.from({ length: callers }, create));
  return expected;
};

const untilReady = async (florin: FlorinProcess): Promise<void> => {
  const ready = async (): Promise<true> => {
    while (!florin.output().includes('Florin is ready')) await pause(20);
    return true;
  };
  const dead = florin.exited.then(() => null);
  if ((await within(Promise.race([ready(), dead]), readyTimeoutMs)) === null) {
    throw new Error(`the deliverer did not come up:\n${florin.output()}`);
  }
};

/** Lets retries come due at once, until nothing is scheduled any more. */
const settle = async (client: pg.Client): Promise<void> => {
  const endMs = performance.now() + settleTimeoutMs;
  for (;;) {
    const { rows } = await client.query(`with hastened as (
        update deliveries set next_attempt_at = clock_timestamp()
        where status = 'scheduled' and next_attempt_at > clock_timestamp() returning 1)
      select count(*)::int as left from deliveries where status = 'scheduled'`);
    const { left } = rows[0] as { left: number };
    if (left === 0 || performance.now() > endMs) return;
    console.log(`${left} deliveries are left`);
    await pause(2_000);
  }
};

const run = async (room: string): Promise<number> => {
  await mkdir(join(room, 'database'));
  const database = await startPostgres({ dataDir: join(room, 'database'), log: silentLog, probe: probeConnection });
  const logPath = join(room, 'receivers.log');
  const receivers = await startReceivers({ seed: `receivers ${seed}`, logPath, faultShare: faults });
  const client = new pg.Client(database.owner);
  await client.connect();
  const env = {
    DATABASE_URL: urlOf(database.service),
    FLORIN_MIGRATE_DATABASE_URL: urlOf(database.owner),
    FLORIN_MASTER_KEY: randomBytes(32).toString('hex'),
  };
  const [apiDir, deliverDir] = [join(room, 'api'), join(room, 'deliver')];
  const serving = launchFlorin(apiDir, [], { cwd: room, env });
  const launchDeliverer = async (): Promise<FlorinProcess> => {
    const urls = { FLORIN_PUBLIC_URL: 'https://localhost:8443', FLORIN_SANDBOX_PUBLIC_URL: 'https://localhost:8444' };
    const florin = launchFlorin(deliverDir, [], { cwd: room, env: { ...env, ...urls, FLORIN_ROLES: 'deliver' } });
    await untilReady(florin);
    return florin;
  };
  let deliverer: FlorinProcess | null = null;
  try {
    const { sandboxUrl, ca } = await serving.ready;
    const merchants = await enrol({ apiDir, room, env, sandboxUrl, ca, receivers });
    deliverer = await launchDeliverer();
    const created = createPayments(merchants, receivers.url);
    const random = createRandom(`kills ${seed}`);
    for (let kill = 1; kill <= kills; kill++) {
      await pause(shortestLifeMs + random.next() * (longestLifeMs - shortestLifeMs));
      sendSignal(deliverer.pid, 'SIGKILL');
      await deliverer.exited;
      deliverer = await launchDeliverer();
      if (kill % 10 === 0) console.log(`${kill} kills`);
    }
    const expected = await created;
    receivers.tell({ isWell: true });
    await settle(client);
    await stopFlorin(deliverer, deliverDir);
    await receivers.end();
    const { checks, figures } = await checkDeliveries(client, logPath, expected);
    console.log(`${expected.size} events, ${kills} kills, seed ${seed}: ${figures}`);
    for (const { what, problems } of checks) {
      console.log(
        `${problems.length === 0 ? 'ok    ' : 'FAILED'} ${what}${problems.map(each => `\n         ${each}`).join('')}`,
      );
    }
    const failed = checks.filter(({ problems }) => problems.length > 0).length;
    console.log(`${checks.length - failed} passed, ${failed} failed`);
    return failed;
  } finally {
    for (const florin of [serving, ...(deliverer ? [deliverer] : [])]) sendSignal(florin.pid, 'SIGKILL');
    await client.end();
    await database.stop();
  }
};

type Enrolment = {
  readonly apiDir: string;
  readonly room: string;
  readonly env: NodeJS.ProcessEnv;
  readonly sandboxUrl: string;
  readonly ca: string;
  readonly receivers: Awaited<ReturnType<typeof startReceivers>>;
};

const enrol = async ({ apiDir, room, env, sandboxUrl, ca, receivers }: Enrolment): Promise<Merchant[]> => {
  const merchants: Merchant[] = [];
  const secrets: Record<string, string> = {};
  const florin = (...args: string[]) => runFlorin(apiDir, args, { cwd: room, env });
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  for (let i = 0; i < accounts; i++) {
    const { id } = await florin('accounts', 'create', '--name', `Merchant ${i}`, ...wide);
    const { key } = await florin('keys', 'create', '--account', String(id));
    const { secret: callbackSecret } = await florin('secrets', 'callback', '--account', String(id));
    const api = createApi({ url: sandboxUrl, ca, key: String(key) });
    const [endpointPath, callbackPath] = [`/endpoint/${i}`, `/callback/${i}`];
    const answer = await api.call('POST', '/v1/webhooks', { body: { url: `${receivers.url}${endpointPath}` } });
    secrets[endpointPath] = String(answer.body.secret);
    secrets[callbackPath] = String(callbackSecret);
    merchants.push({ api, endpointPath, callbackPath });
  }
  receivers.tell({ secrets });
  return merchants;
};

if (values.help) console.log(help);
else {
  const room = await mkdtemp(join(tmpdir(), 'florin-webhook-kills-'));
  try {
    process.exitCode = (await run(room)) === 0 ? 0 : 1;
  } finally {
    await rm(room, { recursive: true, force: true, maxRetries: 5 });
  }
  process.exit();
}
