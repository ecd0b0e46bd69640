import { callRpc, callRpcBatch, type RpcCall, RpcFault, type RpcOptions } from './rpc.ts';

/** One RPC address, and what is remembered of how it behaves. */
export type EvmNode = {
  /** Its place in the configuration; the address itself may hold a provider's key and is never told. */
  readonly index: number;
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>;
  /** A result or a fault for each. Asked one by one where the node takes no batches. */
  callEach(calls: readonly RpcCall[], signal: AbortSignal): Promise<(unknown | RpcFault)[]>;
  /** All results, or the first fault. */
  callMany(calls: readonly RpcCall[], signal: AbortSignal): Promise<unknown[]>;
  /** Whether it is being left alone after faults. */
  isResting(): boolean;
  /** Leaves it alone for a while, longer each time in a row. */
  rest(fault: unknown): void;
  /** It behaved: the next fault begins with the shortest rest again. */
  praise(): void;
};

const shortestRestMs = 500;
const longestRestMs = 60_000;
/** Providers that count requests want to be left alone longer than those that failed once. */
const limitedRestMs = 5_000;
const batchSize = 20;

/** Too many requests for now, in the words of HTTP and of several providers. */
export const isLimited = (fault: unknown): boolean =>
  fault instanceof RpcFault && (fault.code === 429 || fault.code === -32005 || fault.code === -32029);

/** Nodes refuse to answer for blocks whose states they have dropped, each with a code of its own. */
export const isStateGone = (fault: unknown): boolean =>
  fault instanceof RpcFault && fault.kind === 'refused' && !isLimited(fault);

/** Codes that say the request was not understood, as far as nodes agree on them: of JSON-RPC, and of HTTP before it. */
const unsupported: ReadonlySet<unknown> = new Set([-32600, -32601, 400, 405, 413, 415, 422, 501]);
const isUnsupported = (fault: unknown): boolean => fault instanceof RpcFault && unsupported.has(fault.code);

export const createNode = (url: string, index: number, options: RpcOptions, nowMs: () => number): EvmNode => {
  let faultsInRow = 0;
  let restUntilMs = Number.NEGATIVE_INFINITY;
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
        // The others fail in the same way, and must not fail unheard.
        await Promise.allSettled(parts);
        if (!isUnsupported(error)) throw error;
        takesBatches = false;
      }
    }
    return Promise.all(calls.map(each => callSingly(each, signal)));
  };

  return {
    index,
    call,
    callEach,
    async callMany(calls, signal) {
      const results = await callEach(calls, signal);
      const fault = results.find(result => result instanceof RpcFault);
      if (fault !== undefined) throw fault;
      return results;
    },
    isResting: () => nowMs() < restUntilMs,
    rest(fault) {
      const growing = Math.min(shortestRestMs * 2 ** faultsInRow, longestRestMs);
      const wished = (fault instanceof RpcFault && fault.retryAfterMs) || (isLimited(fault) ? limitedRestMs : 0);
      restUntilMs = nowMs() + Math.min(Math.max(growing, wished), longestRestMs);
      faultsInRow++;
    },
    praise() {
      faultsInRow = 0;
    },
  };
};
