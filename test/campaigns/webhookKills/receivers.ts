import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { createRandom } from '../fuzz/random.ts';

export type ReceiversStart = {
  readonly seed: string;
  readonly logPath: string;
  /** Share of requests that something goes wrong with. */
  readonly faultShare: number;
};
/** Secrets by the path that they sign for; or that all receivers are well from now on; or that the log shall end. */
export type ReceiversOrder = { readonly secrets?: Record<string, string>; readonly isWell?: true; readonly end?: true };
export type ReceiversReady = { readonly port: number };

/** What a receiver does. `lost`: it takes the event and its answer never arrives. */
export const kinds = ['well', 'error', 'slow', 'silent', 'reset', 'lost', 'huge'] as const;
export type ReceiverKind = (typeof kinds)[number];
const faulty: readonly ReceiverKind[] = ['error', 'error', 'slow', 'reset', 'lost', 'huge'];
/** A receiver that never answers holds its sender for the whole time-out, so there are few of them. */
const silentShare = 0.002;

const huge = Buffer.alloc(2 ** 20, 'x');

const act = async (kind: ReceiverKind, response: ServerResponse): Promise<void> => {
  if (kind === 'silent') return;
  if (kind === 'reset' || kind === 'lost') return void response.socket?.resetAndDestroy();
  if (kind === 'error') return void response.writeHead(503, { 'retry-after': '1' }).end('not now');
  if (kind === 'slow') await pause(1_500);
  response.writeHead(200, { 'content-type': 'text/plain' });
  if (kind === 'huge') for (let i = 0; i < 4; i++) response.write(huge);
  response.end('thanks');
};

process.once('message', ({ seed, logPath, faultShare }: ReceiversStart) => {
  const random = createRandom(seed);
  const log = createWriteStream(logPath, { flags: 'a' });
  const webhooks = new Map<string, Webhook>();
  let share = faultShare;
  const choose = (): ReceiverKind => {
    if (random.next() >= share) return 'well';
    return random.next() < silentShare ? 'silent' : random.pick(faulty);
  };
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const target = request.url!.split('?')[0]!;
    let verdict = 'verified';
    try {
      webhooks.get(target)!.verify(body.toString('utf8'), request.headers as Record<string, string>);
    } catch {
      verdict = 'unverified';
    }
    const kind = choose();
    const hash = createHash('sha256').update(body).digest('hex');
    log.write(`${target} ${request.headers['webhook-id']} ${hash} ${kind} ${verdict}\n`);
    await act(kind, response);
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  process.on('message', (order: ReceiversOrder) => {
    for (const [path, secret] of Object.entries(order.secrets ?? {})) webhooks.set(path, new Webhook(secret));
    if (order.isWell) share = 0;
    if (order.end) log.end(() => process.exit(0));
  });
  server.listen(0, '127.0.0.1', () => {
    const ready: ReceiversReady = { port: (server.address() as AddressInfo).port };
    process.send?.(ready);
  });
});
process.once('disconnect', () => process.exit(0));
