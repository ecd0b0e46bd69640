import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { codeOf, hasCode } from '../core/errorCode.ts';

/** Below the server and its database, and not so low that a busy machine never ends its backup. */
const niceness = 5;

/** Linux has a priority for each thread, and the threads that compress may have started already. */
const threads = (): number[] => {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
};

/** Node.js puts the errno of these two calls one level deeper than that of others. */
const errnoOf = (error: unknown): string =>
  hasCode(error, 'ERR_SYSTEM_ERROR') ? codeOf((error as { readonly info?: unknown }).info) : codeOf(error);

/**
 * Lets this process wait for others that need a processor. Returns the errno with which the system refused it, or null. A
 * priority that is lower already stays: root would raise it.
 */
export const lowerPriority = (): string | null => {
  let refused: string | null = null;
  for (const thread of threads()) {
    try {
      if (getPriority(thread) < niceness) setPriority(thread, niceness);
    } catch (error) {
      const errno = errnoOf(error);
      // The thread has ended.
      if (errno === 'ESRCH') continue;
      if (errno !== 'EACCES' && errno !== 'EPERM') throw error;
      refused = errno;
    }
  }
  return refused;
};
