import type { DevToken } from '../../chains/evm/deployments.ts';
import { createChain } from './chain.ts';
import { serveRpc } from './rpcServer.ts';

/** The first message from the supervisor. */
export type NodeStart = {
  readonly port: number;
  readonly tokens: readonly DevToken[];
  readonly emptyBlockIntervalMs: number;
  readonly journalPath: string;
  readonly identity?: string | undefined;
};
export type NodeReady = { readonly port: number };
/** Sent before `NodeReady`, while the journal is replayed. */
export type NodeProgress = { readonly done: number; readonly all: number };

// The channel closes when the supervisor dies, however it dies: no chain outlives it.
process.once('disconnect', () => process.exit(0));
// An interrupt from the terminal reaches the whole process group, and the supervisor decides what follows.
process.on('SIGINT', () => {});

process.once('message', async ({ port, ...options }: NodeStart) => {
  const chain = await createChain(options, (done, all) => {
    const progress: NodeProgress = { done, all };
    process.send?.(progress);
  });
  // Most likely the disk is full. The supervisor restarts the process from what the journal has.
  void chain.failed.then(error => {
    process.stderr.write(`The dev chain journal cannot be written: ${error}\n`);
    process.exit(1);
  });
  const server = await serveRpc(chain, port);
  const ready: NodeReady = { port: server.port };
  process.send?.(ready);
});

if (process.send === undefined) {
  process.stderr.write('Do not run this file: the dev chain is started by Florin.\n');
  process.exitCode = 2;
}
