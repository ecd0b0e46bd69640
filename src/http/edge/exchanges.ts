import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The answers that each connection of a server waits for, and how its connections end when the server does. */
export type Exchanges = {
  open(socket: Duplex): void;
  /** How many answers a connection waits for; undefined if it was not opened. */
  running(socket: Duplex): ReadonlySet<ServerResponse> | undefined;
  start(request: IncomingMessage, response: ServerResponse): void;
  /** From now on, each answer tells its client to close the connection. */
  drain(): void;
  /** Closes idle connections, and the others after their last answer. */
  finish(): void;
  readonly isFinishing: () => boolean;
};

export const createExchanges = (): Exchanges => {
  const connections = new Map<Duplex, Set<ServerResponse>>();
  let isDraining = false;
  let isFinishing = false;

  /** Only the newest of several requests: `Connection: close` says that no further answer follows. */
  const endWithNewest = (running: ReadonlySet<ServerResponse>): void => {
    const unsent = [...running].filter(response => !response.headersSent);
    for (const [place, response] of unsent.entries()) response.shouldKeepAlive = place < unsent.length - 1;
  };

  return {
    open(socket) {
      connections.set(socket, new Set());
      socket.once('close', () => connections.delete(socket));
    },
    running: socket => connections.get(socket),
    start(request, response) {
      const running = connections.get(request.socket);
      if (running === undefined) return;
      running.add(response);
      if (isDraining) endWithNewest(running);
      response.once('close', () => {
        running.delete(response);
        if (isFinishing && running.size === 0) request.socket.destroySoon();
      });
    },
    drain() {
      isDraining = true;
      for (const running of connections.values()) endWithNewest(running);
    },
    finish() {
      this.drain();
      isFinishing = true;
      // Each has a `destroySoon`, which sends what is written first.
      for (const [socket, running] of connections)
        if (running.size === 0) (socket as IncomingMessage['socket']).destroySoon();
    },
    isFinishing: () => isFinishing,
  };
};
