import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { createIdSource } from '../src/core/ids.ts';
import { accountEvent } from '../src/engine/webhooks/eventSeal.ts';
import { loadMasterKey } from '../src/vault/masterKey.ts';
import { createVault, type Vault } from '../src/vault/vault.ts';
import type { BareDone, BareStart } from './bareSender.ts';
import { superuserOf, withClient } from './benchDatabases.ts';
import { call } from './client.ts';
import { cpuSeconds, median, quantile, round } from './figures.ts';
import { runProcess } from './runProcess.ts';
import type { Scene } from './scene.ts';
import type { SinkReady, SinkReceived } from './webhookSink.ts';

const [rateTarget, idleTargetMs, isolationTarget] = [0.6, 20, 2];
const inFlight = 64;
const deliveries = 20_000;
const lookMs = 25;
const samples = 1_000;
const gapMs = 20;
const [deadEndpoints, endpointsPerAccount] = [1_000, 50];
/** Each dead endpoint has `backlog` events waiting; `deadShare` of them get one more every `deadGapMs`. */
const [backlog, deadShare, deadGapMs] = [20, 10, 100];
const settleMs = 20_000;

type Sink = { readonly port: number; onReceived: (received: SinkReceived) => void; stop(): void };

const startSink = async (): Promise<Sink> => {
  const child: ChildProcess = fork(new URL('./webhookSink.ts', import.meta.url), [], { execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [SinkReady];
  const sink: Sink = { port, onReceived: () => {}, stop: () => child.disconnect() };
  child.on('message', message => sink.onReceived(message as SinkReceived));
  return sink;
};

/** The body of every event, and the keys of its seal. */
type Sample = { readonly body: string; readonly vault: Vault };

/** The body of a triggered event, for a realistic size. */
const readSample = async (scene: Scene): Promise<Sample> => {
  const { id } = await scene.florin('trigger', 'payment.completed', '--account', scene.accountId);
  const vault = createVault(await loadMasterKey({ dataDir: scene.dataDir }));
  return { body: JSON.stringify(await call(scene, 'GET', `/v1/events/${id}`)), vault };
};

const ids = createIdSource(() => Math.floor(Math.random() * 2 ** 40));

const insertEvents = `insert into events (account_id, environment, id, type, body, created_at, row_seal)
  select account_id, 'sandbox', id, 'payment.completed', $3, $4, seal
  from unnest($1::text[], $2::text[], $5::bytea[]) as e(account_id, id, seal)`;
const insertDeliveries = `insert into deliveries (account_id, environment, id, event_id, endpoint_id, next_attempt_at, created_at)
  select account_id, 'sandbox', delivery_id(id, endpoint_id), id, endpoint_id, clock_timestamp(), clock_timestamp()
  from unnest($1::text[], $2::text[], $3::text[]) as d(account_id, id, endpoint_id)`;

type Due = { readonly accountId: string; readonly endpointId: string };
/** Writes events and due deliveries in one transaction, as the service does. */
const write = async (
  client: pg.Client,
  { vault, body }: Sample,
  due: readonly Due[],
  beforeCommit: (eventIds: readonly string[], atMs: number) => void = () => {},
): Promise<void> => {
  const eventIds = due.map(() => ids.next('event', Date.now()).id);
  const accounts = due.map(each => each.accountId);
  const createdAt = new Date();
  const seals = due.map(({ accountId }, at) => {
    const scope = { accountId, environment: 'sandbox' } as const;
    return accountEvent(vault, scope, { id: eventIds[at]!, type: 'payment.completed', body, createdAt }).seal;
  });
  await client.query('begin');
  await client.query(insertEvents, [accounts, eventIds, body, createdAt, seals]);
  await client.query(insertDeliveries, [accounts, eventIds, due.map(each => each.endpointId)]);
  beforeCommit(eventIds, performance.timeOrigin + performance.now());
  await client.query('commit');
};

const createEndpoint = async (
  scene: Scene,
  url: string,
  accountId = scene.accountId,
  key = scene.key,
): Promise<Due> => {
  const { id } = await call(scene, 'POST', '/v1/webhooks', { url, events: ['webhook.test'] }, key);
  return { accountId, endpointId: id as string };
};

const isDone = async (client: pg.Client, { accountId, endpointId }: Due): Promise<boolean> => {
  const { rows } = await client.query({
    name: 'bench-undelivered',
    text: `select 1 from deliveries where account_id = $1 and environment = 'sandbox' and endpoint_id = $2
      and status = 'scheduled' limit 1`,
    values: [accountId, endpointId],
  });
  return rows.length === 0;
};

/** How long the service takes for `count` deliveries, from their commit until the last is recorded. */
const timeFlorin = async (scene: Scene, client: pg.Client, sample: Sample, due: Due, count: number) => {
  const text = `select pid from pg_stat_activity where application_name like 'florin%'`;
  const backends = (await client.query<{ pid: number }>(text)).rows.map(({ pid }) => pid);
  const spent = () => [cpuSeconds([scene.pid]), cpuSeconds(backends)] as const;
  let [before, sinceMs] = [spent(), 0];
  const all = Array.from({ length: count }, () => due);
  await write(client, sample, all, () => {
    before = spent();
    sinceMs = performance.now();
  });
  while (!(await isDone(client, due))) await pause(lookMs);
  const seconds = (performance.now() - sinceMs) / 1000;
  const [own, database] = spent();
  return { seconds, cpuSeconds: own - before[0], databaseCpuSeconds: database - before[1] };
};

/** Times from just before the commit to the receiver, one event at a time. */
const timeLatencies = async (
  sink: Sink,
  client: pg.Client,
  sample: Sample,
  due: Due,
  count: number,
): Promise<number[]> => {
  const sentMs = new Map<string, number>();
  const latencies: number[] = [];
  const all = Promise.withResolvers<void>();
  sink.onReceived = ({ id, atMs }) => {
    const since = sentMs.get(id);
    if (since === undefined || !sentMs.delete(id)) return;
    latencies.push(atMs - since);
    if (latencies.length === count) all.resolve();
  };
  for (let i = 0; i < count; i++) {
    await write(client, sample, [due], ([id], atMs) => void sentMs.set(id!, atMs));
    await pause(gapMs * (0.5 + Math.random()));
  }
  await all.promise;
  return latencies;
};

/** Medians of several turns, because other load on the machine makes the largest values of one turn. */
type Latencies = { readonly p50: number; readonly p99: number };
const repeatLatencies = async (turns: number, time: () => Promise<number[]>): Promise<Latencies> => {
  const all: number[][] = [];
  for (let i = 0; i < turns; i++) all.push(await time());
  return { p50: median(all.map(median)), p99: median(all.map(each => quantile(each, 0.99))) };
};

const benchRate = async (
  scene: Scene,
  sink: Sink,
  client: pg.Client,
  sample: Sample,
  rounds: number,
): Promise<boolean> => {
  const due = await createEndpoint(scene, `http://127.0.0.1:${sink.port}/fast`);
  const ratios: number[] = [];
  for (let turn = 0; turn <= rounds; turn++) {
    const start: BareStart = {
      url: `http://127.0.0.1:${sink.port}/fast`,
      body: sample.body,
      count: deliveries,
      inFlight,
    };
    const bare = await runProcess<BareStart, BareDone>('./bareSender.ts', start);
    await bare.stop();
    const florin = await timeFlorin(scene, client, sample, due, deliveries);
    // The first round warms both sides up.
    if (turn === 0) continue;
    ratios.push(bare.done.seconds / florin.seconds);
    const [florinRate, bareRate] = [florin, bare.done].map(each => Math.round(deliveries / each.seconds));
    const [own, database, bareOwn] = [florin.cpuSeconds, florin.databaseCpuSeconds, bare.done.cpuSeconds].map(
      seconds => `${round((seconds / deliveries) * 1e6, 0)} µs`,
    );
    console.log(
      `  round ${turn}: florin ${florinRate}/s, bare posts ${bareRate}/s, ratio ${round(ratios.at(-1)!)}; ` +
        `CPU per delivery ${own} plus ${database} of the database, bare ${bareOwn}`,
    );
  }
  console.log(`webhooks: ratio ${round(median(ratios))} (target ${rateTarget})`);
  return median(ratios) >= rateTarget;
};

/** Creates endpoints of other accounts: a third refuses connections, a third never answers, a third answers 500. */
const createDead = async (scene: Scene, sink: Sink): Promise<Due[]> => {
  const urls = ['http://127.0.0.1:9/', `http://127.0.0.1:${sink.port}/silent`, `http://127.0.0.1:${sink.port}/error`];
  const dead: Due[] = [];
  const limits = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  while (dead.length < deadEndpoints) {
    const { id: accountId } = await scene.florin('accounts', 'create', '--name', 'Dead', ...limits);
    const { key } = await scene.florin('keys', 'create', '--account', accountId!);
    for (let i = 0; i < endpointsPerAccount; i++) {
      dead.push(await createEndpoint(scene, urls[dead.length % urls.length]!, accountId, key));
    }
  }
  return dead;
};

/** Writes events for dead endpoints, until stopped. */
const keepBusy = async (
  client: pg.Client,
  sample: Sample,
  dead: readonly Due[],
  signal: AbortSignal,
): Promise<void> => {
  for (let at = 0; !signal.aborted; at = (at + deadShare) % dead.length) {
    await write(client, sample, dead.slice(at, at + deadShare));
    await pause(deadGapMs, undefined, { signal }).catch(() => undefined);
  }
};

const benchIsolation = async (scene: Scene, sink: Sink, sample: Sample, rounds: number): Promise<boolean> =>
  withClient(superuserOf(scene, scene.database.database), client =>
    withClient(superuserOf(scene, scene.database.database), async other => {
      const live = await createEndpoint(scene, `http://127.0.0.1:${sink.port}/reported`);
      await timeLatencies(sink, client, sample, live, 200);
      const repeat = () => repeatLatencies(rounds, () => timeLatencies(sink, client, sample, live, samples));
      const alone = await repeat();
      console.log(
        `webhooks, idle: commit → received p50 ${round(alone.p50)} ms (target ${idleTargetMs}), p99 ${round(alone.p99)} ms`,
      );
      const dead = await createDead(scene, sink);
      for (let i = 0; i < backlog; i++) await write(other, sample, dead);
      const stopping = new AbortController();
      const busy = keepBusy(other, sample, dead, stopping.signal);
      // By then each of them has failed.
      await pause(settleMs);
      const beside = await repeat();
      stopping.abort();
      await busy;
      const ratio = beside.p99 / alone.p99;
      console.log(
        `webhooks, beside ${dead.length} dead endpoints: p50 ${round(beside.p50)} ms, p99 ${round(beside.p99)} ms, ratio ${round(ratio)} (target ${isolationTarget})`,
      );
      return alone.p50 <= idleTargetMs && ratio <= isolationTarget;
    }),
  );

/** Compares signed and recorded deliveries with bare POSTs to the same receiver; then times commit to receiver. */
export const benchWebhooks = async (scene: Scene, options: { rounds: number }): Promise<boolean> => {
  const sink = await startSink();
  try {
    const sample = await readSample(scene);
    const isFast = await withClient(superuserOf(scene, scene.database.database), client =>
      benchRate(scene, sink, client, sample, options.rounds),
    );
    const isIsolated = await benchIsolation(scene, sink, sample, options.rounds);
    return isFast && isIsolated;
  } finally {
    sink.stop();
  }
};
