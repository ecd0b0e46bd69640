import { Agent, request } from 'node:http';
import pg from 'pg';
import type { PostgresConnection } from '../src/local/postgres/startPostgres.ts';
import { copyRows } from './copyRows.ts';

/**
 * The simplest reader: logs of 100 blocks at a time, each block for its time, eight requests in flight, rows into a
 * table without keys. It believes every answer and knows nothing of reorgs or payments.
 */
export type PlainLoopStart = {
  readonly database: PostgresConnection;
  readonly rpcUrl: string;
  readonly token: string;
  readonly from: number;
  readonly to: number;
  /** Whether to request blocks with their transactions, as watching native coin requires. */
  readonly withTransactions: boolean;
};
export type PlainLoopDone = { readonly seconds: number; readonly cpuSeconds: number; readonly rows: number };

const rangeBlocks = 100;
const inFlight = 8;
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

type Log = Readonly<Record<'blockNumber' | 'transactionHash' | 'logIndex' | 'data', string>> & {
  readonly topics: readonly [string, string, string];
};
type Header = Readonly<Record<'number' | 'hash' | 'timestamp', string>>;

const hex = (number: number): string => `0x${number.toString(16)}`;
const agent = new Agent({ keepAlive: true, maxSockets: inFlight });

const ask = <T>(rpcUrl: string, method: string, params: unknown[]): Promise<T> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asking = request(rpcUrl, { method: 'POST', agent, headers }, answer => {
      const chunks: Buffer[] = [];
      answer.on('data', chunk => chunks.push(chunk));
      answer.once('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')).result));
    });
    asking.once('error', reject);
    asking.end(body);
  });

/** Runs at most `most` tasks at once, in the order of the calls. */
const createLimit = (most: number) => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running === most) await new Promise<void>(resolve => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
};

const address = (topic: string): string => `0x${topic.slice(26)}`;

const rowOf = (log: Log, { hash, timestamp }: Header): string =>
  [
    Number(log.blockNumber), hash, Number(timestamp), log.transactionHash, Number(log.logIndex), address(log.topics[1]),
    address(log.topics[2]), BigInt(log.data),
  ].join('\t'); // biome-ignore format: one row

const ingest = async (
  { rpcUrl, token, from, to, withTransactions }: PlainLoopStart,
  client: pg.Client,
): Promise<number> => {
  const limit = createLimit(inFlight);
  let rows = 0;
  let copying: Promise<void> = Promise.resolve();
  const readRange = async (first: number): Promise<void> => {
    const last = Math.min(to, first + rangeBlocks - 1);
    const filter = { fromBlock: hex(first), toBlock: hex(last), address: token, topics: [transferTopic] };
    const asked = limit(() => ask<Log[]>(rpcUrl, 'eth_getLogs', [filter]));
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    const headers = await Promise.all(
      numbers.map(number => limit(() => ask<Header>(rpcUrl, 'eth_getBlockByNumber', [hex(number), withTransactions]))),
    );
    const byNumber = new Map(headers.map(header => [header.number, header]));
    const lines = (await asked).map(log => rowOf(log, byNumber.get(log.blockNumber)!));
    rows += lines.length;
    copying = copying.then(() => copyRows(client, 'plain_transfers', `${lines.join('\n')}\n`));
    await copying;
  };
  const ranges: Promise<void>[] = [];
  for (let first = from; first <= to; first += rangeBlocks) ranges.push(readRange(first));
  await Promise.all(ranges);
  return rows;
};

process.once('message', async (start: PlainLoopStart) => {
  const client = new pg.Client(start.database);
  await client.connect();
  const cpuBefore = process.cpuUsage();
  const begunMs = performance.now();
  const rows = await ingest(start, client);
  const seconds = (performance.now() - begunMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const done: PlainLoopDone = { seconds, cpuSeconds: (user + system) / 1e6, rows };
  process.send!(done);
});
process.once('disconnect', () => process.exit(0));
