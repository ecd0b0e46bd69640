import pino from 'pino';
import type { Log } from '../core/log.ts';
import type { AccessLine } from '../http/edge/server.ts';
import type { LogFile } from './config.ts';
import { type LogDestination, openLogFile } from './logFile.ts';
import { logText } from './logText.ts';
import type { LogLevel } from './parseSettings.ts';
import { eraseRest } from './startProgress.ts';

/**
 * Logs only the name, code, message and stack of an error. Errors of libraries also contain queries, headers and
 * connection settings. Path-based redaction of every line cost a twentieth of a request and would have to guess names.
 */
const describeError = (error: unknown): object => {
  if (!(error instanceof Error)) return { type: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { type: error.name, code, message: error.message, stack: error.stack };
};

const gatherMs = 200;
const gatherLines = 256;

/**
 * Collects access lines and writes many at a time. A line costs 4.2 µs this way, 12 µs through the logger, and 2.8 µs
 * with JSON built by hand.
 */
const gatherAccess = (isOn: boolean, base: object, write: (text: string) => void) => {
  let gathered: object[] = [];
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer) clearTimeout(timer);
    timer = null;
    if (gathered.length > 0) write(gathered.map(line => `${JSON.stringify(line)}\n`).join(''));
    gathered = [];
  };
  return {
    flush,
    add(line: AccessLine): void {
      if (!isOn) return;
      gathered.push({
        level: pino.levels.values.info,
        time: new Date().toISOString(),
        ...base,
        msg: 'request',
        ...line,
      });
      if (gathered.length >= gatherLines) flush();
      else timer ??= setTimeout(flush, gatherMs).unref();
    },
  };
};

const lastWriteMs = 1_000;

export type Logs = {
  readonly log: Log;
  readonly access: (line: AccessLine) => void;
  /** Writes lines that another process has logged. */
  readonly write: (lines: string) => void;
  /** Writes the rest, or gives up after a timeout: the reader may be gone, and the process must end anyway. */
  readonly flush: () => Promise<void>;
};

/** Gathered, because one write per request would cost a fifth of the request. Flushed every second and at the end. */
const openStream = (gathering: object): LogDestination => {
  const stream = pino.destination({ dest: 2, sync: false, ...gathering });
  return {
    write: lines => void stream.write(lines),
    flush() {
      const { promise, resolve } = Promise.withResolvers<void>();
      stream.once('error', () => resolve());
      stream.flush(() => resolve());
      return promise.finally(() => {
        // At exit the library would retry, forever if nobody reads the output.
        stream.flushSync = () => {};
      });
    },
  };
};

/** Lines for people, as soon as they are there. */
const openTerminal = (): LogDestination => {
  const { write, flush } = openStream({});
  const hasColours = process.stderr.hasColors();
  const textOf = (line: string): string =>
    line === '' ? '' : logText(line, hasColours).replace('\n', `${eraseRest}\n`);
  return { flush, write: lines => write(lines.split('\n').map(textOf).join('')) };
};

const openDestination = (file: LogFile | null): LogDestination => {
  if (file !== null) return openLogFile(file);
  return process.stderr.isTTY ? openTerminal() : openStream({ minLength: 8_192, periodicFlush: 1_000 });
};

/** To a file, a terminal, or whoever reads standard error. Each line has the fields of `base`. */
export const createLog = (
  { logLevel: level, logFile }: { logLevel: LogLevel; logFile: LogFile | null },
  base: { readonly process?: string } = {},
): Logs => {
  const destination = openDestination(logFile);
  const log = pino(
    {
      level,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
    },
    destination,
  );
  const access = gatherAccess(log.isLevelEnabled('info'), base, text => destination.write(text));
  return {
    log,
    access: access.add,
    write: destination.write,
    async flush() {
      access.flush();
      const { promise: patience, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, lastWriteMs);
      await Promise.race([destination.flush(), patience]);
      clearTimeout(timer);
    },
  };
};
