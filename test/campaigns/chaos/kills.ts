import { setTimeout as pause } from 'node:timers/promises';
import { sendSignal } from '../../../src/local/postgres/processes.ts';
import type { Random } from '../fuzz/random.ts';
import { type FlorinProcess, findPostmaster, killPostmaster } from './florinProcess.ts';

/** When and what a round kills. */
export type Kill = {
  readonly kind: 'starting' | 'starting, whole tree' | 'parent' | 'whole tree' | 'database, then parent';
  /** From the launch for the first two kinds, from readiness for the others. */
  readonly afterMs: number;
};

/** Until a start was measured: the first ones make the cluster and the tables, and are to be killed at that. */
const presumedStartMs = 8_000;
const longestLoadMs = 1_500;
const startingRounds = 4;

/** A start is killed at any of its moments, so how long one takes here and now has to be known. */
export const planKill = (random: Random, round: number, lastStartMs: number | undefined): Kill => {
  const luck = random.next();
  if (round < startingRounds || luck < 0.25) {
    const kind = random.next() < 0.5 ? 'starting' : 'starting, whole tree';
    return { kind, afterMs: random.next() * 1.1 * (lastStartMs ?? presumedStartMs) };
  }
  const kind = luck < 0.65 ? 'parent' : luck < 0.88 ? 'whole tree' : 'database, then parent';
  return { kind, afterMs: 50 + random.below(longestLoadMs) };
};

const killParent = async (florin: FlorinProcess): Promise<void> => {
  sendSignal(florin.pid, 'SIGKILL');
  await florin.exited;
};

/** Carries it out; the moment has come. Only the processes of this data directory are touched, each by its id. */
export const carryOut = async (kill: Kill, florin: FlorinProcess, dataDir: string, random: Random): Promise<void> => {
  switch (kill.kind) {
    case 'starting':
    case 'parent':
      return killParent(florin);
    case 'starting, whole tree':
    case 'whole tree': {
      const postmaster = await findPostmaster(dataDir).catch(() => null);
      const isDatabaseFirst = random.next() < 0.5;
      if (postmaster && isDatabaseFirst) sendSignal(postmaster, 'SIGKILL');
      await killParent(florin);
      if (postmaster && !isDatabaseFirst) sendSignal(postmaster, 'SIGKILL');
      return;
    }
    case 'database, then parent':
      await killPostmaster(dataDir);
      // Time for the supervisor to bring it back, or not quite.
      await pause(random.below(3_000));
      return killParent(florin);
  }
};
