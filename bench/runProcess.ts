import { fork } from 'node:child_process';
import { once } from 'node:events';

export type AskedProcess<Done> = { readonly done: Done; stop(): Promise<void> };

/** Runs a file of the bench in a process of its own with one message, and waits for its answer. */
export const askProcess = async <Start extends object, Done>(
  file: string,
  start: Start,
): Promise<AskedProcess<Done>> => {
  const child = fork(new URL(file, import.meta.url), [], {
    execArgv: process.env.BENCH_NODE_ARGS?.split(' ') ?? [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  child.send(start);
  const first = await Promise.race([once(child, 'message'), exited.then(([code]) => ({ code }))]);
  if (!Array.isArray(first)) throw new Error(`${file} ended with ${first.code} before it was done`);
  return {
    done: first[0] as Done,
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
};
