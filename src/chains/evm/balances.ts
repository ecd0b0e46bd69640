import balanceReader from '../../../contracts/artefacts/BalanceReader.json' with { type: 'json' };
import { zeroAddress } from './address.ts';
import type { EvmNode } from './node.ts';
import { readBytes } from './reading.ts';
import { RpcFault } from './rpc.ts';

/** Init code is limited to 48 KiB and its return value to 24 KiB. 500 words stay well below both. */
const holdersPerCall = 500;

const word = (value: bigint | number): string => value.toString(16).padStart(64, '0');

const callData = (token: string | null, holders: readonly string[]): string =>
  balanceReader.creationCode +
  word(BigInt(token ?? zeroAddress)) +
  word(64) +
  word(holders.length) +
  holders.map(holder => word(BigInt(holder))).join('');

/** Balances of a token or of the native coin at a block. Throws if the node no longer has that block's state. */
export const readBalances = async (
  node: EvmNode,
  question: { readonly token: string | null; readonly holders: readonly string[]; readonly blockHash: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> => {
  const { token, holders, blockHash } = question;
  const parts: (readonly string[])[] = [];
  for (let from = 0; from < holders.length; from += holdersPerCall)
    parts.push(holders.slice(from, from + holdersPerCall));
  const answers = await Promise.all(
    parts.map(part => node.call('eth_call', [{ data: callData(token, part) }, { blockHash }], signal)),
  );
  const balances = new Map<string, bigint>();
  answers.forEach((answer, part) => {
    const bytes = readBytes(answer, 'balances');
    const requested = parts[part]!;
    if (bytes.length !== requested.length * 32)
      throw new RpcFault('malformed', undefined, 'The node left out a balance.');
    requested.forEach((holder, at) => {
      balances.set(holder, BigInt(`0x${bytes.subarray(at * 32, at * 32 + 32).toString('hex')}`));
    });
  });
  return balances;
};
