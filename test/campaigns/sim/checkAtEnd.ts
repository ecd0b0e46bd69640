import { setTimeout as pause } from 'node:timers/promises';
import type { Check } from './checkChain.ts';

/** Florin reads the coin of closed payments in pages: two rounds of them, and a little. */
const closedRoundsMs = (payments: number): number => 30_000 + 2 * Math.ceil(payments / 500) * 15_000;

/** Coin that contracts sent to closed payments is found within two rounds. All else is right at once. */
export const checkAtEnd = async (payments: number, check: () => Promise<Check[]>): Promise<Check[]> => {
  const endMs = performance.now() + closedRoundsMs(payments);
  for (;;) {
    const checks = await check();
    const failed = checks.filter(({ problems }) => problems.length > 0);
    const isWaiting = failed.length > 0 && failed.every(({ what }) => what.startsWith('I16'));
    if (!isWaiting || performance.now() > endMs) return checks;
    await pause(1_000);
  }
};
