import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ConfigError, environmentWith } from '../config.ts';
import type { Begin, Failure, Post, ToChild, ToSupervisor } from './messages.ts';

export type ChildEnd = {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of what it wrote before it had a log; null if it had one. */
  readonly stderr: string | null;
  /** Why it could not start; null if it could, or ended without a word. */
  readonly failure: Failure | null;
};

export type Child = {
  readonly pid: number;
  readonly post: Post<ToChild>;
  /** Fails if the process ends before. */
  readonly ready: Promise<void>;
  readonly exited: Promise<ChildEnd>;
  kill(): void;
};

const childPath = fileURLToPath(new URL('./childEntry.ts', import.meta.url));
// The same as in bin/florin.js: it halves the time to start.
const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/florin', import.meta.url));
const tailCharacters = 4_000;

/**
 * Parts what a process writes into lines of its log and the rest, which says why it could not begin. Later the rest may
 * contain secrets, and is dropped.
 */
const createReader = (write: (lines: string) => void) => {
  let begun = '';
  let tail: string | null = '';
  return {
    read(text: string): void {
      const lines = (begun + text).split('\n');
      begun = lines.pop()!;
      const logged = lines.filter(line => line.startsWith('{'));
      if (logged.length > 0) write(`${logged.join('\n')}\n`);
      if (tail === null || logged.length === lines.length) return;
      const others = lines.filter(line => !line.startsWith('{')).join('\n');
      tail = `${tail}${others}\n`.slice(-tailCharacters);
    },
    dropTail(): void {
      tail = null;
    },
    tail: () => (tail === null ? null : `${tail}${begun}`.slice(-tailCharacters)),
  };
};

const errorOf = (failure: Failure | null, { code, signal, stderr }: ChildEnd, name: string): Error => {
  if (failure?.problems) return new ConfigError(failure.problems);
  const why = stderr === null ? '' : `: ${stderr}`;
  return new Error(failure?.message ?? `the process ${name} ended with ${signal ?? code} before it was ready${why}`);
};

/** Starts a process. `write` gets the lines of its log, `heard` its messages. */
export const launchChild = (
  begin: Begin,
  write: (lines: string) => void,
  heard: (message: ToSupervisor) => void,
): Child => {
  const child = fork(childPath, [begin.name], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: environmentWith({ NODE_COMPILE_CACHE: compileCache }),
  });
  const reader = createReader(write);
  child.stderr?.setEncoding('utf8').on('data', reader.read);
  const stderrClosed = new Promise(resolve => child.stderr?.once('close', resolve));
  let failure: Failure | null = null;
  const exited = new Promise<ChildEnd>(resolve => {
    const end = (code: number | null, signal: string | null, stderr: string | null): void =>
      resolve({ code, signal, stderr, failure });
    child.once('exit', (code, signal) => void stderrClosed.then(() => end(code, signal, reader.tail())));
    // Any other error is followed by the end.
    child.on('error', error => child.pid === undefined && end(null, null, error.message));
  });
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message: ToSupervisor) => {
      if (message.kind === 'begun') reader.dropTail();
      else if (message.kind === 'ready') resolve();
      else if (message.kind === 'failed') ({ failure } = message);
      else heard(message);
    });
    void exited.then(end => reject(errorOf(failure, end, begin.name)));
  });
  // Not everybody waits for it.
  ready.catch(() => {});
  const post: Post<ToChild> = (message, socket) => {
    // A failure to send means that the process is gone, which `exited` reports.
    if (child.connected) child.send(message, socket, { keepOpen: true }, () => {});
  };
  post(begin);
  return { pid: child.pid ?? 0, post, ready, exited, kill: () => void child.kill('SIGKILL') };
};
