import type { Log } from '../core/log.ts';
import type { Progress, ProgressStep } from '../core/progress.ts';

/** Where people look: a line there can be written over. */
export type Terminal = { readonly columns?: number; write(text: string): unknown };

const aliveMs = 1_000;
/** Elsewhere, lines stay. */
const loggedEveryMs = 5_000;

const numbers = new Intl.NumberFormat('en-US');

/** In one row: the rest of a longer line could not be written over. */
const lineOf = ({ message, done, of, name }: ProgressStep, seconds: number, columns = 80): string => {
  const count = of === null ? numbers.format(done) : `${numbers.format(done)} of ${numbers.format(of)}`;
  const text = [`${message}: ${count}`, ...(name === undefined ? [] : [name]), `${seconds} s`].join(', ');
  return text.slice(0, columns - 1);
};

/** Lines of the log erase what they leave of a longer line of progress. */
export const eraseRest = '\u001b[K';

/**
 * Tells how far the long steps of a start are. On a terminal, one line is written over, at least once a second, and is gone at
 * the end. The cursor waits at its beginning, so that lines of the log replace it. Elsewhere, the log has a line every few
 * seconds, and none of a quick start.
 */
export const createStartProgress = (
  log: Log,
  terminal: Terminal | null,
  nowMs: () => number = () => performance.now(),
): { readonly progress: Progress; readonly end: () => void } => {
  let shown = terminal;
  let step: ProgressStep | null = null;
  let sinceMs = 0;
  let loggedMs = nowMs();
  const tell = (): void => {
    if (step === null) return;
    const atMs = nowMs();
    const seconds = Math.floor((atMs - sinceMs) / 1_000);
    if (shown !== null) shown.write(`${lineOf(step, seconds, shown.columns)}${eraseRest}\r`);
    else if (atMs - loggedMs >= loggedEveryMs) {
      loggedMs = atMs;
      const { message, ...fields } = step;
      log.info({ ...fields, seconds }, message);
    }
  };
  // A statement may take minutes without a word.
  const alive = setInterval(tell, aliveMs).unref();
  return {
    progress(next) {
      if (step?.message !== next.message) sinceMs = nowMs();
      step = next;
      tell();
    },
    end() {
      clearInterval(alive);
      if (step !== null) shown?.write(eraseRest);
      // The local chain may be restarted later, when other lines follow.
      shown = null;
      step = null;
    },
  };
};
