import { fork } from 'node:child_process';
import { once } from 'node:events';

export type RunningProcess<Done> = { readonly done: Done; stop(): Promise<void> };

/** Runs a file of the bench in its own process, sends it one message and waits for the answer. */
export const runProcess = async <Start extends object, Done>(
  file: string,
  start: Start,
): Promise<RunningProcess<Done>> => {
  const child = fork(new URL(file, import.meta.url), [], {
    execArgv: process.env.BENCH_NODE_ARGS?.split(' ') ?? [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  child.send(start);
  const first = await Promise.race([once(child, 'message'), exited.then(([code]) => ({ code }))]);
  if (!Array.isArray(first)) throw new Error(`${file} exited with code ${first.code} before it answered`);
  return {
    done: first[0] as Done,
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
};
