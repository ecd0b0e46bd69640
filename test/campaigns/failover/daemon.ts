import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { sendSignal } from '../../../src/local/postgres/processes.ts';
import { within } from '../chaos/florinProcess.ts';

/** PostgreSQL refuses to run as root. */
export type Account = { readonly uid?: number; readonly gid?: number };

export const accountForServers = (): Account => {
  if (process.getuid?.() !== 0) return {};
  const accounts = readFileSync('/etc/passwd', 'utf8');
  const found = /^postgres:[^:]*:(\d+):(\d+):/m.exec(accounts) ?? /^nobody:[^:]*:(\d+):(\d+):/m.exec(accounts);
  return { uid: Number(found![1]), gid: Number(found![2]) };
};

export type Daemon = {
  readonly pid: number;
  readonly exited: Promise<void>;
  /** At once, as a crash. */
  kill(): Promise<void>;
  /** Asks it to end, and kills it if it does not. */
  stop(): Promise<void>;
};

type Start = {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly account: Account;
  /** The file that its output is appended to. */
  readonly log: string;
};

const stopTimeoutMs = 30_000;

export const startDaemon = (program: string, { args, env, cwd, account, log }: Start): Daemon => {
  const file = openSync(log, 'a');
  const child = spawn(program, args, { ...account, env, cwd, stdio: ['ignore', file, file] });
  closeSync(file);
  const exited = new Promise<void>(resolve => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const end = (signal: NodeJS.Signals): void => {
    // Its id may belong to another process once it has ended.
    if (child.exitCode === null && child.signalCode === null) sendSignal(child.pid!, signal);
  };
  return {
    pid: child.pid!,
    exited,
    kill() {
      end('SIGKILL');
      return exited;
    },
    async stop() {
      end('SIGTERM');
      if (
        (await within(
          exited.then(() => true),
          stopTimeoutMs,
        )) === null
      )
        end('SIGKILL');
      await exited;
    },
  };
};
