import { createHeaderBook, type HeaderBook } from './headerBook.ts';
import { callRpc, callRpcBatch, type RpcCall, RpcFault, type RpcOptions } from './rpc.ts';

/** One RPC URL with its back-off state. */
export type EvmNode = {
  /** Its index in the configuration. The URL may contain a provider's key and is never exposed. */
  readonly index: number;
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>;
  /** A result or a fault for each call. Calls are made one by one if the node takes no batches. */
  callEach(calls: readonly RpcCall[], signal: AbortSignal): Promise<(unknown | RpcFault)[]>;
  /** All results; throws the first fault. */
  callMany(calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]>;
  /** What checks the headers that this node sends. */
  readonly headers: HeaderBook;
  /** Whether the node must not be called now. */
  isBackingOff(): boolean;
  /** Stops using the node for a while, longer after each fault in a row. */
  backOff(fault: unknown): void;
  /** Resets the back-off to its shortest. */
  markSuccess(): void;
};

const minBackOffMs = 500;
/** Every poll waits for a node that answers late, so it is asked less and less often. */
const maxBackOffMs = 60_000;
/** A wrong answer costs no time. If most nodes are faulty, each one is needed for a quorum. */
const maxBackOffAfterAnswerMs = 5_000;
/** Providers with rate limits need a longer back-off than one failure does. */
const limitedBackOffMs = 5_000;
const batchSize = 20;

/** Rate limited, by HTTP or by the codes of several providers. */
export const isLimited = (fault: unknown): boolean =>
  fault instanceof RpcFault && (fault.code === 429 || fault.code === -32005 || fault.code === -32029);

const isLate = (fault: unknown): boolean =>
  !(fault instanceof RpcFault) || fault.kind === 'timeout' || fault.kind === 'too_large';

/** Nodes refuse calls for blocks whose state they have dropped, each with its own code. */
export const isStateGone = (fault: unknown): boolean =>
  fault instanceof RpcFault && fault.kind === 'refused' && !isLimited(fault);

/** Codes for a request that was not understood, as far as nodes agree on them: of JSON-RPC and of HTTP. */
const unsupported: ReadonlySet<unknown> = new Set([-32600, -32601, 400, 405, 413, 415, 422, 501]);
const isUnsupported = (fault: unknown): boolean => fault instanceof RpcFault && unsupported.has(fault.code);

/** A node that has no others to compare with. */
const ownBook = (nowMs: () => number): HeaderBook =>
  createHeaderBook({ nodes: () => [], nowMs, onUnknownFormat: () => {} });

export const createNode = (
  url: string,
  index: number,
  options: RpcOptions,
  nowMs: () => number,
  headers: HeaderBook = ownBook(nowMs),
  onFault: () => void = () => {},
): EvmNode => {
  let faultsInRow = 0;
  let backOffUntilMs = Number.NEGATIVE_INFINITY;
  let takesBatches = true;

  const call: EvmNode['call'] = (method, params, signal) => callRpc(url, method, params, { ...options, signal });

  const callSingly = ({ method, params }: RpcCall, signal: AbortSignal): Promise<unknown> =>
    call(method, params, signal).catch((error: unknown) => {
      if (error instanceof RpcFault) return error;
      throw error;
    });

  const callEach: EvmNode['callEach'] = async (calls, signal) => {
    if (calls.length === 1) return [await callSingly(calls[0]!, signal)];
    if (takesBatches) {
      const parts: Promise<unknown[]>[] = [];
      for (let from = 0; from < calls.length; from += batchSize) {
        parts.push(callRpcBatch(url, calls.slice(from, from + batchSize), { ...options, signal }));
      }
      try {
        return (await Promise.all(parts)).flat();
      } catch (error) {
        // The other parts fail too. Their rejections must be handled.
        await Promise.allSettled(parts);
        if (!isUnsupported(error)) throw error;
        takesBatches = false;
      }
    }
    return Promise.all(calls.map(each => callSingly(each, signal)));
  };

  return {
    index,
    headers,
    call,
    callEach,
    async callMany(calls, signal) {
      const results = await callEach(calls, signal);
      const fault = results.find(result => result instanceof RpcFault);
      if (fault !== undefined) throw fault;
      return results;
    },
    isBackingOff: () => nowMs() < backOffUntilMs,
    backOff(fault) {
      // The node has done nothing wrong.
      if (fault instanceof RpcFault && fault.kind === 'unconfirmed') return;
      const longestMs = isLate(fault) || isLimited(fault) ? maxBackOffMs : maxBackOffAfterAnswerMs;
      const backOffMs = Math.min(minBackOffMs * 2 ** faultsInRow, longestMs);
      const requestedMs =
        (fault instanceof RpcFault && fault.retryAfterMs) || (isLimited(fault) ? limitedBackOffMs : 0);
      backOffUntilMs = nowMs() + Math.min(Math.max(backOffMs, requestedMs), maxBackOffMs);
      faultsInRow++;
      onFault();
    },
    markSuccess() {
      faultsInRow = 0;
    },
  };
};
