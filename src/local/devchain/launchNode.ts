import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { NodeProgress, NodeReady, NodeStart } from './node.ts';

export type NodeExit = { readonly code: number | null; readonly signal: string | null; readonly stderr: string };
export type DevNode = { readonly pid: number; readonly port: number; readonly exited: Promise<NodeExit> };

const nodePath = fileURLToPath(new URL('./node.ts', import.meta.url));
// The same as in bin/florin.js. It halves the time to start; where it cannot be written to, nothing is kept.
const compileCache = fileURLToPath(new URL('../../../node_modules/.cache/florin', import.meta.url));
const readyTimeoutMs = 30_000;
const endTimeoutMs = 5_000;
const stderrTailCharacters = 2_000;

/** Starts the node's process and waits until it serves. Aborting the signal ends it, at any time. */
export const launchNode = async (
  start: NodeStart,
  onProgress: (progress: NodeProgress) => void,
  signal: AbortSignal,
): Promise<DevNode> => {
  signal.throwIfAborted();
  // Nothing of our own environment, which may hold the master key.
  const env = { NODE_COMPILE_CACHE: compileCache };
  const child = spawn(process.execPath, [nodePath], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], env });

  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrTailCharacters);
  });
  // The event 'close', which also waits for stderr, is not emitted once this side has closed the channel.
  const stderrClosed = new Promise(resolve => child.stderr?.once('close', resolve));
  const exited = new Promise<NodeExit>(resolve => {
    child.once('exit', (code, killedBy) => {
      void stderrClosed.then(() => resolve({ code, signal: killedBy, stderr }));
    });
    child.once('error', error => resolve({ code: null, signal: null, stderr: error.message }));
  });

  const end = (): void => {
    if (child.connected) child.disconnect();
    const killTimer = setTimeout(() => child.kill('SIGKILL'), endTimeoutMs);
    void exited.then(() => clearTimeout(killTimer));
  };
  signal.addEventListener('abort', end, { once: true });
  void exited.then(() => signal.removeEventListener('abort', end));

  // A failure to send means that the process is gone, which `exited` reports.
  child.send(start, () => {});
  let readyTimer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>(resolve => {
    readyTimer = setTimeout(resolve, readyTimeoutMs, 'late');
  });
  const ready = new Promise<NodeReady>(resolve => {
    child.on('message', (message: NodeReady | NodeProgress) => {
      if ('port' in message) return resolve(message);
      // A long replay is not a hang: each progress message restarts the timeout.
      readyTimer?.refresh();
      onProgress(message);
    });
  });
  const first = await Promise.race([ready, exited, late]);
  clearTimeout(readyTimer);
  if (first !== 'late' && 'port' in first) return { pid: child.pid ?? 0, port: first.port, exited };
  if (first === 'late') {
    end();
    await exited;
  }
  throw new Error('the dev chain did not start', { cause: await exited });
};
