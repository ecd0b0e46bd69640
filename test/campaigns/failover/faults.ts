import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../fuzz/random.ts';
import type { Cluster } from './cluster.ts';
import type { Load } from './load.ts';
import type { Node } from './node.ts';

export const kinds = ['postmaster', 'node', 'etcd', 'freeze'] as const;
export type Kind = (typeof kinds)[number];

export const meaning: Readonly<Record<Kind, string>> = {
  postmaster: 'kill -9 of the postmaster of the primary',
  node: 'kill -9 of Patroni and the postmaster of the primary',
  etcd: 'kill -9 of two of three etcd',
  freeze: 'SIGSTOP of Patroni and PostgreSQL of the primary',
};

export type Outcome = {
  readonly kind: Kind;
  /** Until the other node was the primary; null where that need not happen. */
  readonly promotedMs: number | null;
  /** From the fault, or the return of etcd, until creations are accepted again. */
  readonly acceptedMs: number;
  readonly refusals: number;
  readonly problems: readonly string[];
};

/** Much longer than Patroni waits before it demotes a primary without etcd. */
const etcdAwayMs = 10_000;
const promotedTimeoutMs = 90_000;
const acceptedTimeoutMs = 120_000;
/** A pause between two accepted creations that is no accident. */
const gapMs = 2_000;
const lookMs = 50;

const untilPrimary = async (node: Node): Promise<void> => {
  const endMs = performance.now() + promotedTimeoutMs;
  while (!(await node.isPrimary())) {
    if (performance.now() > endMs) throw new Error(`${node.name} was not promoted within ${promotedTimeoutMs} ms`);
    await pause(lookMs);
  }
};

/** The end of the last gap between accepted creations that lasted beyond a moment. Without a gap, the moment itself. */
export const endOfOutage = (acceptedMs: readonly number[], sinceMs: number): number => {
  let [before, end] = [sinceMs, sinceMs];
  for (const atMs of acceptedMs) {
    if (atMs > sinceMs && atMs - before >= gapMs) end = atMs;
    before = atMs;
  }
  return end;
};

type Struck = { readonly sinceMs: number; readonly promotedMs: number | null };

/** With two nodes, strict mode takes no write until both are there. So the lost node is started as soon as the other leads. */
const strike = async (kind: Kind, { etcds, roles }: Cluster, random: Random): Promise<Struck> => {
  const { primary, standby } = await roles();
  const sinceMs = performance.now();
  const promoted = async (): Promise<number> => {
    await untilPrimary(standby);
    return performance.now() - sinceMs;
  };
  switch (kind) {
    case 'postmaster':
      // Patroni starts it again.
      await primary.killPostmaster();
      return { sinceMs, promotedMs: await promoted() };
    case 'node': {
      await primary.kill();
      const promotedMs = await promoted();
      primary.startPatroni();
      return { sinceMs, promotedMs };
    }
    case 'freeze': {
      await primary.freeze();
      const promotedMs = await promoted();
      primary.thaw();
      return { sinceMs, promotedMs };
    }
    case 'etcd': {
      const killed = etcds.toSpliced(random.below(etcds.length), 1);
      await Promise.all(killed.map(etcd => etcd.kill()));
      await pause(etcdAwayMs);
      for (const etcd of killed) etcd.start();
      return { sinceMs: performance.now(), promotedMs: null };
    }
  }
};

/** One fault under load, until the cluster is whole again. */
export const runFault = async (kind: Kind, cluster: Cluster, load: Load, random: Random): Promise<Outcome> => {
  const refusalsBefore = load.refusals();
  const { sinceMs, promotedMs } = await strike(kind, cluster, random);
  await cluster.untilHealthy();
  const healthyMs = performance.now();
  const lastAcceptedMs = (): number => load.acceptedMs.at(-1) ?? 0;
  while (lastAcceptedMs() < healthyMs) {
    if (performance.now() - healthyMs > acceptedTimeoutMs) throw new Error('no creation is accepted any more');
    await pause(lookMs);
  }
  const acceptedMs = endOfOutage(load.acceptedMs, sinceMs) - sinceMs;
  const refusals = load.refusals() - refusalsBefore;
  const hadEffect = acceptedMs > 0 && refusals > 0;
  const problems = hadEffect ? [] : ['no creation was refused: the fault changed nothing'];
  return { kind, promotedMs, acceptedMs, refusals, problems };
};
