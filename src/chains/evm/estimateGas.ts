import { callRpc } from './rpc.ts';

/** Units of gas, and what one costs in the smallest unit of the native coin; null where the node does not say. */
export type GasEstimate = { readonly units: bigint; readonly price: bigint | null };

const timeoutMs = 3_000;
const quantity = /^0x[0-9a-f]{1,64}$/;

const readQuantity = (answer: unknown): bigint | null =>
  typeof answer === 'string' && quantity.test(answer) ? BigInt(answer) : null;

/** What a call of this contract would take, by the first node that says; null where none does. */
export const estimateGas = async (
  rpcUrls: readonly string[],
  transaction: { readonly to: string; readonly data: string },
): Promise<GasEstimate | null> => {
  for (const url of rpcUrls) {
    try {
      const units = readQuantity(await callRpc(url, 'eth_estimateGas', [transaction], { timeoutMs }));
      if (units === null) continue;
      const price = await callRpc(url, 'eth_gasPrice', [], { timeoutMs }).then(readQuantity, () => null);
      return { units, price };
    } catch {
      // An estimate is a courtesy: the next node may know, and the plan is as good without one.
    }
  }
  return null;
};
