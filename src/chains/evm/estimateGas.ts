import { callRpc } from './rpc.ts';

/** Gas units, and the gas price in wei; null if the node does not report a price. */
export type GasEstimate = { readonly units: bigint; readonly price: bigint | null };

const timeoutMs = 3_000;
const quantity = /^0x[0-9a-f]{1,64}$/;

const readQuantity = (answer: unknown): bigint | null =>
  typeof answer === 'string' && quantity.test(answer) ? BigInt(answer) : null;

/** The estimate of the first node that gives one; null if none does. */
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
      // The estimate is optional, so a failing node is skipped.
    }
  }
  return null;
};
