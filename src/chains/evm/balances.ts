import balanceReader from '../../../contracts/artefacts/BalanceReader.json' with { type: 'json' };
import { zeroAddress } from './address.ts';
import type { EvmNode } from './node.ts';
import { readBytes } from './reading.ts';
import { RpcFault } from './rpc.ts';

/** Creation code may have 48 KiB, what it returns 24: 500 words leave room on both sides. */
const holdersACall = 500;

const word = (value: bigint | number): string => value.toString(16).padStart(64, '0');

const callData = (token: string | null, holders: readonly string[]): string =>
  balanceReader.creationCode +
  word(BigInt(token ?? zeroAddress)) +
  word(64) +
  word(holders.length) +
  holders.map(holder => word(BigInt(holder))).join('');

/** Balances of a token, or of the native coin, at one block. Fails where the node no longer has that block's state. */
export const readBalances = async (
  node: EvmNode,
  question: { readonly token: string | null; readonly holders: readonly string[]; readonly blockHash: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> => {
  const { token, holders, blockHash } = question;
  const parts: (readonly string[])[] = [];
  for (let from = 0; from < holders.length; from += holdersACall) parts.push(holders.slice(from, from + holdersACall));
  const answers = await Promise.all(
    parts.map(part => node.call('eth_call', [{ data: callData(token, part) }, { blockHash }], signal)),
  );
  const balances = new Map<string, bigint>();
  answers.forEach((answer, part) => {
    const bytes = readBytes(answer, 'balances');
    const asked = parts[part]!;
    if (bytes.length !== asked.length * 32) throw new RpcFault('malformed', undefined, 'The node left out a balance.');
    asked.forEach((holder, at) => {
      balances.set(holder, BigInt(`0x${bytes.subarray(at * 32, at * 32 + 32).toString('hex')}`));
    });
  });
  return balances;
};
