import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type pg from 'pg';
import type { Check } from '../sim/checkChain.ts';
import type { ReceiverKind } from './receivers.ts';

/** The created payments and the receiver paths that must get their events. */
export type Expected = ReadonlyMap<string, readonly string[]>;

type Delivery = {
  readonly eventId: string;
  readonly paymentId: string;
  readonly path: string;
  readonly status: string;
  readonly attempts: number;
  readonly logged: number;
  readonly parkedReason: string | null;
  readonly hash: string;
};

type Heard = { readonly lines: number; readonly answered: number; readonly hashes: Set<string>; unverified: number };

const readDeliveries = async (client: pg.Client): Promise<Delivery[]> => {
  const { rows } = await client.query(`
    select d.event_id as "eventId", e.payment_id as "paymentId", d.status, d.attempts, d.parked_reason as "parkedReason",
      regexp_replace(coalesce(w.url, d.callback_url), '^http://[^/]*', '') as path,
      encode(sha256(convert_to(e.body, 'UTF8')), 'hex') as hash,
      (select count(*)::int from delivery_attempts a where a.account_id = d.account_id
        and a.environment = d.environment and a.delivery_id = d.id) as logged
    from deliveries d join events e on (e.account_id, e.environment, e.id) = (d.account_id, d.environment, d.event_id)
      left join webhook_endpoints w on (w.account_id, w.environment, w.id) = (d.account_id, d.environment, d.endpoint_id)`);
  return rows;
};

const succeeds: ReadonlySet<ReceiverKind> = new Set(['well', 'slow', 'huge']);

/** The receivers' own log, by path and event. */
const readLog = async (path: string): Promise<Map<string, Heard>> => {
  const heard = new Map<string, Heard>();
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const [target, eventId, hash, kind, verdict] = line.split(' ') as [string, string, string, ReceiverKind, string];
    const key = `${target} ${eventId}`;
    const known = heard.get(key) ?? { lines: 0, answered: 0, hashes: new Set<string>(), unverified: 0 };
    known.hashes.add(hash);
    heard.set(key, {
      ...known,
      lines: known.lines + 1,
      answered: known.answered + (succeeds.has(kind) ? 1 : 0),
      unverified: known.unverified + (verdict === 'verified' ? 0 : 1),
    });
  }
  return heard;
};

const some = (problems: string[]): string[] => problems.slice(0, 20);

/** Invariant I6, from the tables and the receivers' log alone. */
export const checkDeliveries = async (
  client: pg.Client,
  logPath: string,
  expected: Expected,
): Promise<{ checks: Check[]; figures: string }> => {
  const deliveries = await readDeliveries(client);
  const heard = await readLog(logPath);
  const byKey = new Map<string, Delivery>();
  const pathsOf = new Map<string, string[]>();
  const twice: string[] = [];
  for (const delivery of deliveries) {
    const key = `${delivery.path} ${delivery.eventId}`;
    if (byKey.has(key)) twice.push(key);
    byKey.set(key, delivery);
    pathsOf.set(delivery.paymentId, [...(pathsOf.get(delivery.paymentId) ?? []), delivery.path]);
  }
  const sorted = (paths: readonly string[] = []): string => [...paths].sort().join(' ');
  const wrongTargets = [...expected].flatMap(([id, paths]) =>
    sorted(paths) === sorted(pathsOf.get(id)) ? [] : [`${id}: ${sorted(pathsOf.get(id))} for ${sorted(paths)}`],
  );
  const unknown = [...pathsOf.keys()].filter(id => !expected.has(id));
  const of = (status: string): Delivery[] => deliveries.filter(each => each.status === status);
  const heardOf = ({ path, eventId }: Delivery): Heard | undefined => heard.get(`${path} ${eventId}`);
  const phantom = of('succeeded').filter(each => (heardOf(each)?.answered ?? 0) === 0);
  const oddlyParked = of('parked').filter(
    ({ attempts, parkedReason }) => attempts < 6 || !/^all 6/.test(parkedReason!),
  );
  const overcounted = deliveries.filter(
    each => each.attempts !== each.logged || each.attempts > (heardOf(each)?.lines ?? 0),
  );
  const stray = [...heard.keys()].filter(key => !byKey.has(key));
  const altered = [...heard].filter(([key, { hashes }]) => hashes.size > 1 || !hashes.has(byKey.get(key)?.hash ?? ''));
  const unverified = [...heard].filter(([, each]) => each.unverified > 0);
  const name = ({ path, eventId, status, attempts }: Delivery): string => `${path} ${eventId} ${status} ${attempts}`;
  const requests = [...heard.values()].reduce((sum, { lines }) => sum + lines, 0);
  const attempts = deliveries.reduce((sum, each) => sum + each.attempts, 0);
  const answeredAgain = [...heard.values()].reduce((sum, { answered }) => sum + Math.max(0, answered - 1), 0);
  return {
    checks: [
      {
        what: 'every event has one delivery for each receiver of it, and no other',
        problems: some([...wrongTargets, ...twice, ...unknown]),
      },
      { what: 'none is left over: each succeeded or is parked', problems: some(of('scheduled').map(name)) },
      { what: 'what succeeded was answered with success', problems: some(phantom.map(name)) },
      { what: 'what is parked had all its attempts', problems: some(oddlyParked.map(name)) },
      { what: 'every attempt on record was made', problems: some(overcounted.map(name)) },
      { what: 'receivers heard of nothing else', problems: some(stray) },
      { what: 'the bytes of an event were the same each time', problems: some(altered.map(([key]) => key)) },
      { what: 'every request was signed by its secret', problems: some(unverified.map(([key]) => key)) },
    ],
    figures:
      `${deliveries.length} deliveries: ${of('succeeded').length} succeeded, ${of('parked').length} parked; ` +
      `${requests} requests heard, ${attempts} attempts on record, ${requests - attempts} sent and not on record (kills); ` +
      `${answeredAgain} answered with success more than once (duplicates, ${((100 * answeredAgain) / deliveries.length).toFixed(2)} %)`,
  };
};
