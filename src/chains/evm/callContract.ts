import { readBytes } from './reading.ts';
import { callRpc } from './rpc.ts';

const timeoutMs = 5_000;

/** The first answer that a node gives; null if none does. Nothing is sent to the chain. */
const firstAnswer = async (rpcUrls: readonly string[], method: string, asked: unknown): Promise<string | null> => {
  for (const url of rpcUrls) {
    try {
      const answer = await callRpc(url, method, [asked, 'latest'], { timeoutMs });
      return `0x${readBytes(answer, 'the answer of a contract').toString('hex')}`;
    } catch {
      // The next node may answer.
    }
  }
  return null;
};

export const callContract = (
  rpcUrls: readonly string[],
  transaction: { readonly to: string; readonly data: string },
): Promise<string | null> => firstAnswer(rpcUrls, 'eth_call', transaction);

/** `0x` if there is no code at the address. */
export const readCode = (rpcUrls: readonly string[], address: string): Promise<string | null> =>
  firstAnswer(rpcUrls, 'eth_getCode', address);
