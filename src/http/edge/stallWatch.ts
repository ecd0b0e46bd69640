import type { Socket } from 'node:net';
import type { Log } from '../../core/log.ts';
import { createRareWarning } from './rareWarning.ts';

/** Part of Node's handle of a TCP connection. Node's own time-out of sockets reads it too. */
type Handle = { readonly writeQueueSize: number };

/** Bytes that wait in this process because the system takes no more. */
const waitingBytes = (socket: Socket): number =>
  (socket as unknown as { readonly _handle: Handle | null })._handle?.writeQueueSize ?? 0;

type Stall = { readonly takenBytes: number; readonly sinceMs: number };

export type StallWatch = {
  /** Closes each connection whose client has taken nothing of what waits for it for the given time. */
  look(): void;
};

/**
 * Finds clients that do not read. It looks at the TCP connection, below TLS, so it covers every answer: pages, files,
 * streams, errors and handshakes. A time-out of sockets would not do: bytes that the client sends restart it.
 */
export const createStallWatch = (
  sockets: ReadonlySet<Socket>,
  stallTimeoutMs: number,
  log: Log,
  nowMs: () => number = () => performance.now(),
): StallWatch => {
  let stalls = new Map<Socket, Stall>();
  const warn = createRareWarning(log, 'a client did not read its answer and was disconnected');
  return {
    look() {
      const now = nowMs();
      const stillStalled: typeof stalls = new Map();
      for (const socket of sockets) {
        const waiting = waitingBytes(socket);
        if (waiting === 0) continue;
        const takenBytes = socket.bytesWritten - waiting;
        const known = stalls.get(socket);
        const stall = known?.takenBytes === takenBytes ? known : { takenBytes, sinceMs: now };
        if (now - stall.sinceMs < stallTimeoutMs) stillStalled.set(socket, stall);
        else {
          warn({ address: socket.remoteAddress, waitingBytes: waiting });
          // A normal close would leave what the system has buffered in its memory until that is read.
          socket.resetAndDestroy();
        }
      }
      stalls = stillStalled;
    },
  };
};
