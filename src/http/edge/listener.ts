import type { IncomingMessage, RequestListener } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import { endsOf } from './connectionCap.ts';
import { defaultListenerLimits, type ListenerLimits } from './listenerLimits.ts';
import { createListenerWarnings } from './listenerWarnings.ts';
import { listenOnAll } from './listenOnAll.ts';
import { createPlainServer } from './plainServer.ts';
import { createRareWarning } from './rareWarning.ts';
import { createSecureServer, type ServerTls } from './secureServer.ts';
import { createStallWatch } from './stallWatch.ts';

export type ListenerOptions = {
  readonly tls: ServerTls;
  readonly handler: RequestListener;
  readonly limits?: Partial<ListenerLimits>;
  /** Whether the client address may have one more connection. Default: always. */
  readonly admit?: (socket: Socket) => boolean;
  /** Selects the plain HTTP requests to serve. Default: none. */
  readonly servePlain?: (request: IncomingMessage) => boolean;
  readonly requestId: () => string;
  readonly log: Log;
};

export type Listener = {
  readonly httpsServer: HttpsServer;
  /** Returns the bound port, which is the same on every host. 0 picks a port that is free on all hosts. */
  listen(port: number, hosts: readonly string[]): Promise<number>;
  /** Serves a connection that another process has accepted. */
  take(socket: Socket): void;
  /** Serves as before, but each answer ends its connection, so that clients go elsewhere without a lost request. */
  drain(): void;
  /** Stops accepting, answers what has arrived, waits for running requests, and closes the remaining connections at the deadline. */
  close(): Promise<void>;
};

const tlsHandshakeByte = 0x16;
/** How often stalled connections are looked for, as a part of their time-out. */
const stallLooks = 6;

/**
 * One port that serves HTTPS and also answers plain HTTP, normally with an error. The first byte of a connection tells
 * which one it is. The whole socket is then passed on, so TLS uses the native handle instead of a JavaScript stream.
 */
export const createListener = (options: ListenerOptions): Listener => {
  const { log, admit = () => true, servePlain = () => false } = options;
  const limits = { ...defaultListenerLimits, ...options.limits };
  const warnings = createListenerWarnings(log);
  const secure = createSecureServer({ ...options, limits, warnings });
  const plain = createPlainServer({ ...options, limits, servePlain, warnings });
  // These servers never listen themselves. This event starts their timeouts and connection lists.
  for (const { server } of [secure, plain]) server.emit('listening');

  const sockets = new Set<Socket>();
  const silentSockets = new Set<Socket>();
  const stalls = createStallWatch(sockets, limits.stallTimeoutMs, log);
  const stallTimer = setInterval(() => stalls.look(), limits.stallTimeoutMs / stallLooks).unref();
  const warnFull = createRareWarning(log, 'too many connections are open; further ones are refused');
  // Keyed by address and port, because the TLS server does not tell which connection a session belongs to.
  const handshakes = new Map<string, Socket>();
  secure.server.on('secureConnection', session => handshakes.delete(endsOf(session)));
  const accept = (socket: Socket): void => {
    const isFull = sockets.size >= limits.connections;
    if (isFull) warnFull({ connections: sockets.size });
    if (isFull || !admit(socket)) return void socket.destroy();
    sockets.add(socket);
    silentSockets.add(socket);
    const ends = endsOf(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      silentSockets.delete(socket);
      if (handshakes.get(ends) === socket) handshakes.delete(ends);
    });
    const giveUp = (): void => {
      warnings.slow(socket, 'first byte');
      socket.destroy();
    };
    peek(socket, { timeoutMs: limits.peekTimeoutMs, giveUp }, firstByte => {
      silentSockets.delete(socket);
      const isTls = firstByte === tlsHandshakeByte;
      if (isTls) handshakes.set(ends, socket);
      (isTls ? secure : plain).server.emit('connection', socket);
    });
  };

  const drain = (): void => {
    for (const each of [secure, plain]) each.drain();
  };
  const tcpServers: TcpServer[] = [];
  return {
    httpsServer: secure.server,
    listen: async (port, hosts) => {
      const createServer = () => createTcpServer({ allowHalfOpen: true, noDelay: true }, accept);
      const bound = await listenOnAll({ createServer, port, hosts, log });
      tcpServers.push(...bound.servers);
      return bound.port;
    },
    take: accept,
    drain,
    close: async () => {
      const closed = tcpServers.map(server => new Promise(resolve => server.close(resolve)));
      // No server of this process counts those that another one has accepted.
      for (const socket of sockets) closed.push(new Promise(resolve => socket.once('close', resolve)));
      const deadline = setTimeout(() => {
        log.warn({ connections: sockets.size }, 'connections were closed at the shutdown deadline');
        for (const socket of sockets) socket.destroy();
      }, limits.closeTimeoutMs);
      drain();
      await readArrived();
      for (const socket of [...silentSockets, ...handshakes.values()]) socket.destroy();
      secure.finish();
      plain.finish();
      // Stops their timeouts. The error that they never listened goes to the callback and is ignored.
      for (const { server } of [secure, plain]) server.close(() => {});
      await Promise.all(closed);
      clearTimeout(deadline);
      clearInterval(stallTimer);
    },
  };
};

/** Requests that clients have sent may wait to be read. Only two turns of the event loop have a whole look between them. */
const readArrived = async (): Promise<void> => {
  await setImmediate();
  await setImmediate();
};

const peek = (
  socket: Socket,
  { timeoutMs, giveUp }: { readonly timeoutMs: number; readonly giveUp: () => void },
  handOver: (firstByte: number) => void,
): void => {
  const timer = setTimeout(giveUp, timeoutMs);
  // Stays after the handover. An error also closes the socket, and the close event is enough.
  socket.on('error', () => {});
  socket.once('close', () => clearTimeout(timer));
  socket.once('readable', () => {
    clearTimeout(timer);
    const bytes: Buffer | null = socket.read();
    if (bytes === null) return void socket.destroy();
    socket.unshift(bytes);
    handOver(bytes[0]!);
  });
};
