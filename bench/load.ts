import { connect, type TLSSocket } from 'node:tls';

export type Load = {
  /** Answers with status 200 per second. */
  perSecond: number;
  answered: number;
  refused: number;
  latenciesMs: number[];
};

/**
 * Keep-alive connections that each send the next request once the last is answered. Requests are prepared bytes, and of
 * the answers only status and length are read: on two cores, every cycle spent here is taken from what is measured.
 */
export const runLoad = async (options: {
  port: number;
  ca: string;
  connections: number;
  seconds: number;
  /** The bytes of the next request. */
  next: () => Buffer;
}): Promise<Load> => {
  const { port, ca, connections, seconds, next } = options;
  const latenciesMs: number[] = [];
  let refused = 0;
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port, ca)));
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  await Promise.all(
    sockets.map(socket =>
      converse(socket, next, endMs, (isOk, latencyMs) => {
        if (isOk) latenciesMs.push(latencyMs);
        else refused++;
      }),
    ),
  );
  const elapsed = (performance.now() - startedMs) / 1000;
  for (const socket of sockets) socket.destroy();
  return { perSecond: latenciesMs.length / elapsed, answered: latenciesMs.length, refused, latenciesMs };
};

const open = (port: number, ca: string): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => resolve(socket));
    socket.setNoDelay(true);
    socket.once('error', reject);
  });

const headerEnd = Buffer.from('\r\n\r\n');
const lengthPattern = /content-length: *(\d+)/i;

const converse = (
  socket: TLSSocket,
  next: () => Buffer,
  endMs: number,
  answered: (isOk: boolean, latencyMs: number) => void,
): Promise<void> =>
  new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let sentMs = 0;
    const send = (): void => {
      sentMs = performance.now();
      if (sentMs >= endMs) resolve();
      else socket.write(next());
    };
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const end = received.indexOf(headerEnd);
      if (end < 0) return;
      const length = Number(lengthPattern.exec(received.toString('latin1', 0, end))?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      const isOk = received.toString('latin1', 9, 12) === '200';
      received = received.subarray(end + 4 + length);
      answered(isOk, performance.now() - sentMs);
      send();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('a connection was closed under load')));
    send();
  });

export const requestBytes = (method: string, path: string, key: string, body?: string, extra = ''): Buffer =>
  Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n${extra}${
      body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
    }\r\n${body ?? ''}`,
  );
