import { type EvmNode, isLimited } from './node.ts';
import { readBytes } from './reading.ts';
import { RpcFault } from './rpc.ts';

export type ListedToken = { readonly contract: string; readonly decimals: number };

const decimalsCall = '0x313ce567';

const reasonAgainst = ({ contract, decimals }: ListedToken, answer: unknown): string | null => {
  // A rate-limited or failing node says nothing about the token.
  if (answer instanceof RpcFault && (answer.kind !== 'refused' || isLimited(answer))) throw answer;
  const bytes = answer instanceof RpcFault ? Buffer.alloc(0) : readBytes(answer, "a token's decimals");
  if (bytes.length !== 32) return `There is no token at ${contract}.`;
  const found = BigInt(`0x${bytes.toString('hex')}`);
  return found === BigInt(decimals) ? null : `The token at ${contract} has ${found} decimals instead of ${decimals}.`;
};

/** Tokens that the chain does not have as listed, by contract, with the reason. Wrong decimals cost real money. */
export const inspectTokens = async (
  node: EvmNode,
  tokens: readonly ListedToken[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> => {
  const calls = tokens.map(({ contract }) => ({
    method: 'eth_call',
    params: [{ to: contract, data: decimalsCall }, 'latest'],
  }));
  const answers = calls.length === 0 ? [] : await node.callEach(calls, signal);
  const reasons = tokens.map((token, at) => [token.contract, reasonAgainst(token, answers[at])] as const);
  return new Map(reasons.filter((entry): entry is [string, string] => entry[1] !== null));
};
