import { FlorinError } from '../core/errors.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Ends the work cleanly, so that it can remove what it has begun. */
export const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new FlorinError('conflict', 'Interrupted. Nothing was kept.'));
  for (const signal of signals) process.once(signal, stop);
  try {
    return await work(stopping.signal);
  } finally {
    for (const signal of signals) process.off(signal, stop);
  }
};
