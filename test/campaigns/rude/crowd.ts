import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createRandom, type Random } from '../fuzz/random.ts';

/** Where the crowd goes. The paths have answers that are long, or that never end. */
export type Target = {
  readonly sandboxUrl: string;
  readonly productionUrl: string;
  readonly ca: string;
  readonly key: string;
  readonly paymentId: string;
  /** The session of a person who may export. */
  readonly cookie: string;
};

export type CrowdSize = { readonly idle: number; readonly slow: number; readonly greedy: number };

export type CrowdCounts = {
  readonly opened: number;
  /** Closed by the server, for whatever reason. */
  readonly closed: number;
  readonly open: number;
};

export type Crowd = {
  /** Resolves when each of them has come once, and was taken or refused. */
  come(): Promise<void>;
  leave(): void;
  counts(): CrowdCounts;
};

type Manners = (random: Random, target: Target) => { readonly socket: Socket; readonly everyMs?: number };
type Place = { readonly url: string; readonly ca: string; readonly handshakes?: boolean };

const crowdAddress = '127.0.0.1';
/** A client that was cut off comes back after a pause of this length to twice this length. */
const comebackMs = 1_000;
/** A byte now and then. */
const dripMs = 400;
/** As many as a connection may have at a time, and too many. */
const pipelined = [8, 8, 8, 40];

const open = ({ url, ca, handshakes = true }: Place): Socket => {
  const at = { host: '127.0.0.1', port: Number(new URL(url).port), localAddress: crowdAddress };
  return handshakes ? connectTls({ ...at, ca, servername: 'localhost' }) : connectTcp(at);
};

const headOf = (method: string, path: string, headers: Readonly<Record<string, string>>): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}`;

const comeIdle: Manners = (random, { sandboxUrl: url, ca }) => ({
  socket: open({ url, ca, handshakes: random.next() < 0.5 }),
});

/** The beginning of a handshake whose end does not come. */
const helloStart = Buffer.from([0x16, 3, 1, 0x40, 0, 1, 0, 0x3f, 0xfc]);

/** Says so much at once, and then one byte at a time. */
const comeSlowly: Manners = (random, { sandboxUrl: url, ca, key }) => {
  const body = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': '60000' };
  const [start, handshakes] = random.pick<readonly [string | Buffer, boolean]>([
    ['G', false],
    [helloStart, false],
    [`${headOf('GET', '/v1/networks', {})}x: `, true],
    [`${headOf('POST', '/v1/payments', body)}\r\n{"description": "`, true],
  ]);
  const socket = open({ url, ca, handshakes });
  socket.write(start);
  return { socket, everyMs: dripMs };
};

/** Asks for much and reads nothing of it. */
const comeGreedily: Manners = (random, { sandboxUrl, productionUrl, ca, key, paymentId, cookie }) => {
  const [url, head] = random.pick([
    [sandboxUrl, headOf('GET', `/checkout/${paymentId}/live`, {})],
    [sandboxUrl, headOf('GET', '/v1/payments?limit=100', { authorization: `Bearer ${key}` })],
    [sandboxUrl, headOf('GET', '/openapi.json', {})],
    [productionUrl, headOf('GET', '/dashboard/api/payments.csv?environment=sandbox', { cookie })],
  ] as const);
  const socket = open({ url, ca });
  socket.pause();
  socket.write(`${head}\r\n`.repeat(random.pick(pipelined)));
  return { socket };
};

export const createCrowd = (target: Target, size: CrowdSize, seed: string): Crowd => {
  const random = createRandom(seed);
  const sockets = new Set<Socket>();
  const timers = new Set<NodeJS.Timeout>();
  let isHere = false;
  let opened = 0;
  let closed = 0;

  const later = (work: () => void, afterMs: number): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, afterMs);
    timers.add(timer);
  };

  const drip = (socket: Socket, everyMs: number): void => {
    if (socket.destroyed || !isHere) return;
    if (socket.writable) socket.write('x');
    later(() => drip(socket, everyMs), everyMs);
  };

  /** Comes again whenever it is cut off. Resolves when the first connection stands or has failed. */
  const come = (manners: Manners): Promise<void> =>
    new Promise(resolve => {
      const { socket, everyMs } = manners(random, target);
      opened += 1;
      sockets.add(socket);
      socket.once('connect', () => resolve());
      socket.on('error', () => {});
      // One that does not read gets no event of the server's end of the connection; only a reset closes it.
      socket.once('close', () => {
        sockets.delete(socket);
        resolve();
        if (!isHere) return;
        closed += 1;
        later(() => void come(manners), comebackMs * (1 + random.next()));
      });
      if (everyMs !== undefined) drip(socket, everyMs);
      // The others read nothing either, but see when they are cut off.
      if (manners !== comeGreedily) socket.resume();
    });

  return {
    async come() {
      isHere = true;
      const all = [
        ...Array<Manners>(size.idle).fill(comeIdle),
        ...Array<Manners>(size.slow).fill(comeSlowly),
        ...Array<Manners>(size.greedy).fill(comeGreedily),
      ];
      await Promise.all(all.map(come));
    },
    leave() {
      isHere = false;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      for (const socket of sockets) socket.destroy();
    },
    counts: () => ({ opened, closed, open: sockets.size }),
  };
};
