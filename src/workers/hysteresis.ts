import type { NetworkHealth } from '../storage/chain/networkStatus.ts';

/** How many equal measurements in a row change the status: one lost answer is not an outage. */
const changesAfter = 2;

export type Verdict = { status: NetworkHealth; reason: string | null };

/** The first measurement counts at once. A later change must be measured `changesAfter` times. */
export const createHysteresis = () => {
  let shown: Verdict | null = null;
  let candidate: NetworkHealth | null = null;
  let seen = 0;
  return (measured: Verdict): Verdict => {
    if (shown === null || measured.status === shown.status) {
      shown = measured;
      candidate = null;
      seen = 0;
      return shown;
    }
    seen = measured.status === candidate ? seen + 1 : 1;
    candidate = measured.status;
    if (seen < changesAfter) return shown;
    shown = measured;
    candidate = null;
    seen = 0;
    return shown;
  };
};
