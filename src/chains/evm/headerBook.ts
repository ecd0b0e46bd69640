import { createRecentMap } from '../../core/recentMap.ts';
import { type Header, readHeader } from './block.ts';
import { type RpcCall, RpcFault } from './rpc.ts';

/** What a book needs of a node. */
export type HeaderSource = {
  callEach(calls: readonly RpcCall[], signal: AbortSignal): Promise<(unknown | RpcFault)[]>;
  isBackingOff(): boolean;
};

/**
 * What is known about the headers of a chain. A header that has the hash which it claims is proven. One that does not
 * is forged, or its format is unknown, as after a fork that Florin does not know yet. The other nodes decide.
 */
export type HeaderBook = {
  /** Throws a fault of the node if a header cannot be believed. */
  check(node: HeaderSource, headers: readonly Header[], signal: AbortSignal): Promise<void>;
  /** Like `check`, but leaves headers in a new shape alone: they are checked again when their blocks are read. */
  checkHeads(node: HeaderSource, heads: readonly Header[], signal: AbortSignal): Promise<void>;
  /** Why no new payments can be accepted, or null. */
  refusal(): string | null;
};

export type HeaderBookOptions = {
  readonly nodes: () => readonly HeaderSource[];
  /** A monotonic clock. */
  readonly nowMs: () => number;
  /** Called once for each new shape of headers that two nodes agree on, or that nobody can check. */
  readonly onUnknownFormat: (header: Header, isConfirmed: boolean) => void;
};

/**
 * How long headers that nobody can check are not believed. A second node that is away for a moment comes back, and a
 * node that hides something would have to forge all its headers for this long.
 */
const patienceMs = 30_000;
/** Other nodes that are asked about a header. */
const maxWitnesses = 3;
const [keptShapes, keptHeaders] = [100, 1_000];

const forged = (): RpcFault =>
  new RpcFault('malformed', undefined, 'The node sent a block header that does not have the hash of its block.');
const disputed = (): RpcFault =>
  new RpcFault('malformed', undefined, 'Two nodes sent different headers of the same block.');
const unconfirmed = (): RpcFault =>
  new RpcFault('unconfirmed', undefined, 'No second node confirms a block header in an unknown format.');

/** The fields that Florin uses, as one text. */
const contentOf = ({ number, hash, parentHash, timestamp, receiptsRoot, bloom }: Header): string =>
  [number, hash, parentHash, timestamp, receiptsRoot, Buffer.from(bloom).toString('base64')].join(' ');

/** What another node says about a header: `unknown` if it does not have the block or does not answer. */
type Opinion = 'proven' | 'same' | 'different' | 'forged' | 'unknown';

const compare = (header: Header, answer: unknown): Opinion => {
  if (answer === null || answer instanceof RpcFault) return 'unknown';
  const other = readHeader(answer);
  if (other.hash !== header.hash) return 'unknown';
  const isSame = contentOf(other) === contentOf(header);
  if (other.isHashed) return isSame ? 'proven' : 'forged';
  return isSame ? 'same' : 'different';
};

const askNode = async (
  node: HeaderSource,
  headers: readonly Header[],
  signal: AbortSignal,
): Promise<readonly Opinion[]> => {
  try {
    const calls = headers.map(({ hash }) => ({ method: 'eth_getBlockByHash', params: [hash, false] }));
    return (await node.callEach(calls, signal)).map((answer, at) => compare(headers[at]!, answer));
  } catch (error) {
    if (signal.aborted || !(error instanceof RpcFault)) throw error;
    return headers.map(() => 'unknown');
  }
};

export const createHeaderBook = ({ nodes, nowMs, onUnknownFormat }: HeaderBookOptions): HeaderBook => {
  /** Shapes of headers that have had their hashes. Such a header without it is forged, unless a second node agrees. */
  const knownShapes = createRecentMap<true>(keptShapes);
  const reportedShapes = createRecentMap<true>(keptShapes);
  /** Headers that do not have their hashes and that a second node sent too. */
  const agreed = createRecentMap<string>(keptHeaders);
  /** The first block since which no header has been proven or confirmed, and whether such headers are believed. */
  let alone: { readonly from: number; readonly sinceMs: number; readonly isBelieved: boolean } | null = null;

  /** Headers below say nothing: they may be older than the fork. */
  const settle = ({ number }: Header): void => {
    if (alone !== null && number >= alone.from) alone = null;
  };

  const report = (header: Header, isConfirmed: boolean): void => {
    if (reportedShapes.get(header.shape)) return;
    reportedShapes.set(header.shape, true);
    onUnknownFormat(header, isConfirmed);
  };

  const believe = (header: Header, opinion: Opinion): void => {
    const isKnown = knownShapes.get(header.shape) === true;
    // Nothing that Florin uses is different, but the node has changed another field.
    if (opinion === 'forged' || (opinion === 'proven' && isKnown)) throw forged();
    agreed.set(header.hash, contentOf(header));
    settle(header);
    if (opinion !== 'same') return;
    knownShapes.delete(header.shape);
    report(header, true);
  };

  /** Headers about which no other node can say anything. */
  const believeAlone = (headers: readonly Header[]): void => {
    if (headers.some(({ shape }) => knownShapes.get(shape))) throw forged();
    alone ??= { from: headers[0]!.number, sinceMs: nowMs(), isBelieved: false };
    if (nowMs() - alone.sinceMs < patienceMs) throw unconfirmed();
    alone = { ...alone, isBelieved: true };
    for (const header of headers) report(header, false);
  };

  const askOthers = async (node: HeaderSource, headers: readonly Header[], signal: AbortSignal): Promise<void> => {
    const others = nodes()
      .filter(other => other !== node)
      .toSorted((a, b) => Number(a.isBackingOff()) - Number(b.isBackingOff()))
      .slice(0, maxWitnesses);
    const different = new Set<Header>();
    let open = headers;
    for (const other of others) {
      if (open.length === 0) return;
      const opinions = await askNode(other, open, signal);
      open.forEach((header, at) => {
        if (opinions[at] === 'different') different.add(header);
        else if (opinions[at] !== 'unknown') believe(header, opinions[at]!);
      });
      open = open.filter((_, at) => opinions[at] === 'unknown' || opinions[at] === 'different');
    }
    if (open.some(header => different.has(header))) throw disputed();
    if (open.length > 0) believeAlone(open);
  };

  /** The headers that are neither proven nor confirmed. */
  const doubtful = (headers: readonly Header[]): readonly Header[] => {
    const left: Header[] = [];
    for (const header of headers) {
      if (header.isHashed) {
        knownShapes.set(header.shape, true);
        settle(header);
      } else if (agreed.get(header.hash) !== contentOf(header)) left.push(header);
    }
    return left;
  };

  return {
    async check(node, headers, signal) {
      const left = doubtful(headers);
      if (left.length > 0) await askOthers(node, left, signal);
    },
    async checkHeads(node, heads, signal) {
      const left = doubtful(heads).filter(({ shape }) => knownShapes.get(shape));
      if (left.length > 0) await askOthers(node, left, signal);
    },
    refusal: () =>
      alone?.isBelieved
        ? 'Its block headers have an unknown format, and no second node confirms them. Add an RPC URL or update Florin.'
        : null,
  };
};
