/** JSON-RPC as a stranger to Florin would write it: what the simulation does and what its checker reads go through here. */
export type RpcCall = readonly [method: string, ...params: unknown[]];

export type ChainRpc = {
  call(method: string, ...params: unknown[]): Promise<unknown>;
  /** Carried out in order, one after the other. */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>;
};

const timeoutMs = 60_000;
const batchSize = 500;

type Answer = { readonly id: number; readonly result?: unknown; readonly error?: { readonly message: string } };

const post = async (url: string, body: unknown): Promise<unknown> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  return response.json();
};

export const createChainRpc = (url: string): ChainRpc => {
  const batch = async (calls: readonly RpcCall[]): Promise<unknown[]> => {
    const results: unknown[] = [];
    for (let from = 0; from < calls.length; from += batchSize) {
      const part = calls.slice(from, from + batchSize);
      const body = part.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }));
      const answers = (await post(url, body)) as readonly Answer[];
      const byId = new Map(answers.map(answer => [answer.id, answer]));
      for (const [id, [method]] of part.entries()) {
        const answer = byId.get(id);
        if (answer === undefined || answer.error)
          throw new Error(`${method}: ${answer?.error?.message ?? 'no answer'}`);
        results.push(answer.result);
      }
    }
    return results;
  };
  return { call: async (method, ...params) => (await batch([[method, ...params]]))[0], batch };
};

export const hexOf = (number: number): string => `0x${number.toString(16)}`;
