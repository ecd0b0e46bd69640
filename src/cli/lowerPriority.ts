import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { hasCode } from '../core/errorCode.ts';

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

/** Lets this process wait for others that need a processor. */
export const lowerPriority = (): void => {
  for (const thread of threads()) {
    try {
      setPriority(thread, niceness);
    } catch (error) {
      // The thread has ended, or the system does not allow it.
      if (!hasCode(error, 'ESRCH', 'EACCES', 'EPERM', 'ERR_SYSTEM_ERROR')) throw error;
    }
  }
};
