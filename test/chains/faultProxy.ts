import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RpcOutcome } from '../../src/local/devchain/provider.ts';
import { createRandom, type Random } from '../campaigns/fuzz/random.ts';

/** A node that answers honestly. */
export type Upstream = (method: string, params: readonly unknown[]) => Promise<RpcOutcome>;

/** What can go wrong with a whole exchange, and with one answer in it. */
const exchangeKinds = ['limited', 'serverError', 'silence', 'cutConnection', 'malformed', 'noBatches'] as const;
const answerKinds = [
  'staleHead',
  'emptyLogs',
  'clampedRange',
  'truncatedLogs',
  'nullReceipt',
  'nullBlock',
  'wrongChain',
  'alteredReceipts',
  'emptiedBloom',
  'forgedHeader',
  'droppedBalance',
] as const;
type ExchangeKind = (typeof exchangeKinds)[number];
type AnswerKind = (typeof answerKinds)[number];
/** `fork`: the whole exchange is answered from another branch. */
export type FaultKind = ExchangeKind | AnswerKind | 'fork';

/** The probability of each fault, per exchange or answer. */
export type Faults = Readonly<Partial<Record<FaultKind, number>>>;

type Call = { readonly id: unknown; readonly method: string; readonly params: readonly unknown[] };
type Fields = Readonly<Record<string, unknown>>;

const json = { 'Content-Type': 'application/json' };

const failures: Readonly<Record<ExchangeKind, (response: ServerResponse) => void>> = {
  limited: response => response.writeHead(429, { 'Retry-After': '1' }).end('slow down'),
  serverError: response => response.writeHead(500).end('out of order'),
  // The caller hangs up, or the proxy does when it is closed.
  silence: () => {},
  cutConnection: response =>
    response.writeHead(200, { ...json, 'Content-Length': 1000 }).write('{"jsonrpc"', () => response.destroy()),
  malformed: response => response.writeHead(200, json).end('{"jsonrpc":"2.0","id":1,"result":'),
  noBatches: response =>
    response
      .writeHead(200, json)
      .end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'One request at a time.' } })),
};

type Alteration = {
  applies(call: Call, result: unknown): boolean;
  alter(result: unknown, call: Call, random: Random, upstream: Upstream): unknown;
};

const hex = (number: number): string => `0x${number.toString(16)}`;
const isLogs = (method: string, result: unknown): result is Fields[] =>
  method === 'eth_getLogs' && Array.isArray(result) && result.length > 0;
const rangeOf = ({ params: [filter] }: Call): { from: number; to: number } => {
  const { fromBlock, toBlock } = filter as { fromBlock?: string; toBlock?: string };
  return { from: Number(fromBlock), to: Number(toBlock) };
};
/** The blocks of a range up to its middle: what dev nodes and small providers answer for a range that is too wide. */
const clamped = (call: Call, result: unknown): Fields[] => {
  const { from, to } = rangeOf(call);
  return (result as Fields[]).filter(({ blockNumber }) => Number(blockNumber) <= (from + to) / 2);
};
const isBlock = ({ method }: Call, result: unknown): result is Fields =>
  (method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash') && result !== null;
const emptyBloom = `0x${'0'.repeat(512)}`;
/** Each would be useful to somebody who forges blocks, and each is covered by the hash. */
const forgeries: readonly ((block: Fields) => Fields)[] = [
  () => ({ logsBloom: `0x${'f'.repeat(512)}` }),
  ({ stateRoot }) => ({ receiptsRoot: stateRoot }),
  ({ receiptsRoot }) => ({ stateRoot: receiptsRoot }),
  ({ stateRoot }) => ({ transactionsRoot: stateRoot }),
  ({ timestamp }) => ({ timestamp: hex(Number(timestamp) + 1) }),
];
/** Where words that are not zero begin in the hexadecimal answer of a call. */
const balancesIn = (result: unknown): number[] => {
  const words = ((result as string).length - 2) / 64;
  return Array.from({ length: Math.floor(words) }, (_, at) => 2 + at * 64).filter(
    at => !/^0*$/.test((result as string).slice(at, at + 64)),
  );
};
const hasLogs = (receipt: unknown): boolean => ((receipt as Fields).logs as unknown[]).length > 0;

const alterations: Readonly<Record<AnswerKind, Alteration>> = {
  staleHead: {
    applies: ({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' && result !== null,
    async alter(result, { params }, random, upstream) {
      const older = Math.max(0, Number((result as Fields).number) - 1 - random.below(12));
      const outcome = await upstream('eth_getBlockByNumber', [hex(older), params[1]]);
      return 'error' in outcome ? null : outcome.result;
    },
  },
  emptyLogs: { applies: ({ method }, result) => isLogs(method, result), alter: () => [] },
  clampedRange: {
    applies: (call, result) =>
      isLogs(call.method, result) && !Number.isNaN(rangeOf(call).to) && clamped(call, result).length < result.length,
    alter: (result, call) => clamped(call, result),
  },
  truncatedLogs: {
    applies: ({ method }, result) => isLogs(method, result),
    alter(result, _call, random) {
      const logs = result as readonly unknown[];
      if (random.next() < 0.5) return logs.slice(0, random.below(logs.length));
      const dropped = random.below(logs.length);
      return logs.filter((_, at) => at !== dropped);
    },
  },
  nullReceipt: {
    applies: ({ method }, result) => method === 'eth_getTransactionReceipt' && result !== null,
    alter: () => null,
  },
  nullBlock: {
    applies: ({ method }, result) => method === 'eth_getBlockByNumber' && result !== null,
    alter: () => null,
  },
  wrongChain: { applies: ({ method }) => method === 'eth_chainId', alter: () => '0x2a' },
  alteredReceipts: {
    applies: ({ method }, result) => method === 'eth_getBlockReceipts' && Array.isArray(result) && result.some(hasLogs),
    alter(result) {
      const receipts = result as readonly Fields[];
      const at = receipts.findIndex(hasLogs);
      return receipts.map((receipt, index) =>
        index === at ? { ...receipt, logs: (receipt.logs as unknown[]).slice(1) } : receipt,
      );
    },
  },
  // The proxy also hides the logs of the block.
  emptiedBloom: {
    applies: (call, result) => isBlock(call, result) && result.logsBloom !== emptyBloom,
    alter: result => ({ ...(result as Fields), logsBloom: emptyBloom }),
  },
  forgedHeader: {
    applies: isBlock,
    alter: (result, _call, random) => ({ ...(result as Fields), ...random.pick(forgeries)(result as Fields) }),
  },
  // Calls without a recipient run code that reads many balances, a word for each.
  droppedBalance: {
    applies: ({ method, params }, result) =>
      method === 'eth_call' && (params[0] as Fields).to === undefined && balancesIn(result).length > 0,
    alter(result, _call, random) {
      const dropped = random.pick(balancesIn(result));
      return `${(result as string).slice(0, dropped)}${'0'.repeat(64)}${(result as string).slice(dropped + 64)}`;
    },
  },
};

/** Hides the logs of blocks that were last sent with an emptied bloom filter. */
const createHiding = () => {
  const emptied = new Set<unknown>();
  return (call: Call, result: unknown): unknown => {
    if (isLogs(call.method, result)) return result.filter(({ blockHash }) => !emptied.has(blockHash));
    if (!isBlock(call, result)) return result;
    if (result.logsBloom === emptyBloom) emptied.add(result.hash);
    else emptied.delete(result.hash);
    return result;
  };
};

/** The receipts of a block, from single ones: a method that not every node has. */
const blockReceipts = async (upstream: Upstream, [blockHash]: readonly unknown[]): Promise<RpcOutcome> => {
  const outcome = await upstream('eth_getBlockByHash', [blockHash, false]);
  if ('error' in outcome || outcome.result === null) return outcome;
  const receipts: unknown[] = [];
  for (const hash of (outcome.result as { transactions: string[] }).transactions) {
    const receipt = await upstream('eth_getTransactionReceipt', [hash]);
    if ('error' in receipt) return receipt;
    receipts.push(receipt.result);
  }
  return { result: receipts };
};

export type FaultProxy = {
  readonly url: string;
  /** What goes wrong from now on. */
  set(faults: Faults): void;
  /** Faulty answers so far, by kind. All answers of an exchange that failed count. */
  counts(): ReadonlyMap<FaultKind, number>;
  faulty(): number;
  /** All answers so far, by method. */
  answers(): ReadonlyMap<string, number>;
  close(): void;
};

export type FaultProxyOptions = {
  readonly seed: string;
  readonly faults?: Faults;
  /** The branch that `fork` answers from. */
  readonly fork?: Upstream;
  readonly offersBlockReceipts?: boolean;
};

const countIn = <T>(counts: Map<T, number>, what: T, by = 1): void => {
  counts.set(what, (counts.get(what) ?? 0) + by);
};

/**
 * JSON-RPC over HTTP on loopback in front of a node, with faults at the given rates. The same seed gives the same
 * faults.
 */
export const startFaultProxy = async (upstream: Upstream, options: FaultProxyOptions): Promise<FaultProxy> => {
  const random = createRandom(options.seed);
  const counts = new Map<FaultKind, number>();
  const answers = new Map<string, number>();
  let faults = options.faults ?? {};
  const hide = createHiding();
  const strikes = (kind: FaultKind): boolean => (faults[kind] ?? 0) > 0 && random.next() < faults[kind]!;

  const answer = async ({ id, method, params }: Call, source: Upstream): Promise<object> => {
    const isBuilt = method === 'eth_getBlockReceipts' && options.offersBlockReceipts === true;
    const outcome = isBuilt ? await blockReceipts(source, params) : await source(method, params);
    if ('error' in outcome) return { jsonrpc: '2.0', id, ...outcome };
    const call = { id, method, params };
    const kind = answerKinds.find(each => alterations[each].applies(call, outcome.result) && strikes(each));
    if (kind === undefined) return { jsonrpc: '2.0', id, result: hide(call, outcome.result) };
    countIn(counts, kind);
    const altered = await alterations[kind].alter(outcome.result, call, random, source);
    return { jsonrpc: '2.0', id, result: hide(call, altered) };
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8')) as Call | Call[];
    const calls = Array.isArray(body) ? body : [body];
    for (const { method } of calls) countIn(answers, method);
    const failure = exchangeKinds.find(kind => (kind !== 'noBatches' || Array.isArray(body)) && strikes(kind));
    if (failure !== undefined) {
      countIn(counts, failure, calls.length);
      failures[failure](response);
      return;
    }
    const isForked = options.fork !== undefined && strikes('fork');
    if (isForked) countIn(counts, 'fork', calls.length);
    const source = isForked ? options.fork! : upstream;
    const parts: object[] = [];
    for (const call of calls) parts.push(await answer(call, source));
    response.writeHead(200, json).end(JSON.stringify(Array.isArray(body) ? parts : parts[0]));
  };

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  // Longer than the driver keeps idle connections, so that only a fault cuts an exchange.
  server.keepAliveTimeout = 65_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set(changed) {
      faults = changed;
    },
    counts: () => counts,
    faulty: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    answers: () => answers,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
};
