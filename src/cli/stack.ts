import type { Log } from '../core/log.ts';

export type Stack = ReturnType<typeof createStack>;

/** Runs cleanup steps in reverse order. A failed step does not stop the others. */
export const createStack = (log: Log) => {
  const steps: { name: string; undo: () => Promise<void> | void }[] = [];
  let undone: Promise<void> | null = null;
  const unwind = async (): Promise<void> => {
    for (const { name, undo } of steps.reverse()) {
      try {
        await undo();
      } catch (error) {
        log.error({ step: name, err: error }, 'a component could not be stopped');
      }
    }
  };
  return {
    push: (name: string, undo: () => Promise<void> | void) => void steps.push({ name, undo }),
    unwind: () => {
      undone ??= unwind();
      return undone;
    },
  };
};
