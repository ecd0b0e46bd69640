import type { NetworkHealth } from '../storage/networkStatus.ts';

/** So many equal measurements in a row change a status: one lost answer is not an outage. */
const steady = 2;

export type Verdict = { status: NetworkHealth; reason: string | null };

/** Hysteresis: the first measurement counts at once, a later change has to be seen `steady` times. */
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
    if (seen < steady) return shown;
    shown = measured;
    candidate = null;
    seen = 0;
    return shown;
  };
};
