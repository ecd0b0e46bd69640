import { setTimeout as pause } from 'node:timers/promises';
import { FlorinError } from '../core/errors.ts';
import { readChains } from '../storage/chain/chains.ts';
import type { Database } from '../storage/database.ts';

const lookMs = 500;
/** A process that takes over a chain does so within this time. */
const unreadMs = 30_000;

/**
 * Waits until the process that reads a chain has done what was asked for. `look` answers the result, or how far it is. The
 * request is kept if this throws.
 */
export const waitForReader = async <T>(
  db: Database,
  caip2: string,
  look: () => Promise<{ readonly done: T } | { readonly progress: string }>,
  onProgress: (text: string) => void,
): Promise<T> => {
  let lastReadMs = performance.now();
  let shown = '';
  for (;;) {
    const seen = await look();
    if ('done' in seen) return seen.done;
    const [chain] = await readChains(db, [caip2]);
    if (chain?.haltReason)
      throw new FlorinError('conflict', `${caip2} is halted, so nothing is done there. ${chain.haltReason}`);
    if (chain?.leaseUntil && chain.leaseUntil.getTime() > Date.now()) lastReadMs = performance.now();
    if (performance.now() - lastReadMs > unreadMs) {
      const text = `No process reads ${caip2} now. The request is kept. The next process that reads the chain carries it out.`;
      throw new FlorinError('service_unavailable', text);
    }
    if (seen.progress !== shown) onProgress(seen.progress);
    shown = seen.progress;
    await pause(lookMs);
  }
};
