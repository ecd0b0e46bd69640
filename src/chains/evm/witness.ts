import type { Forward, Movement, WatchedBlock } from '../../core/chain.ts';
import { readCoinTransaction, readForwarded, readLog, readTransfer } from './block.ts';
import type { EvmNode } from './node.ts';
import { readHash, readList, readNumber, readObject } from './reading.ts';
import { RpcFault } from './rpc.ts';

/** What came or left by a transaction that is known. */
type Sent = (Movement | Forward) & { readonly txHash: string };

type Told = { readonly key: string; readonly contract: string | null; readonly amount: bigint } & (
  | { readonly to: string }
  | { readonly from: string }
);
/** What it is and what it is worth, as text: that something reached an address, or that it left. */
const wordOf = (told: Told): string =>
  [told.key, 'to' in told ? `to ${told.to}` : `from ${told.from}`, told.contract, told.amount].join(' ');

/** What a transaction moved by this node's word, wherever it has it; nothing if it does not, or if that failed. */
const wordsOf = (transaction: unknown, answer: unknown): readonly string[] => {
  if (transaction === null || answer === null) return [];
  const receipt = readObject(answer, 'a receipt');
  if (readNumber(receipt.status, "a receipt's status") !== 1) return [];
  const blockHash = readHash(receipt.blockHash, "a receipt's block");
  const words = readList(receipt.logs, "a receipt's logs").flatMap(value => {
    const log = { ...readLog(value), blockHash };
    const [transfer, forward] = [readTransfer(log), readForwarded(log)];
    if (forward !== null) return [wordOf(forward)];
    return transfer === null ? [] : [wordOf({ ...transfer, key: `${blockHash}:log:${transfer.index}` })];
  });
  const coin = readCoinTransaction(transaction);
  if (coin !== null) {
    words.push(wordOf({ to: coin.to, contract: null, amount: coin.value, key: `${blockHash}:tx:${coin.index}` }));
  }
  return words;
};

/** Which of these this node tells of as well, in the same block and word for word. */
const toldBy = async (node: EvmNode, sent: readonly Sent[], signal: AbortSignal): Promise<readonly Sent[]> => {
  const hashes = [...new Set(sent.map(({ txHash }) => txHash))];
  const methods = ['eth_getTransactionByHash', 'eth_getTransactionReceipt'];
  const calls = hashes.flatMap(hash => methods.map(method => ({ method, params: [hash] })));
  try {
    const answers = await node.callMany(calls, signal);
    const words = new Set(hashes.flatMap((_, at) => wordsOf(answers[2 * at], answers[2 * at + 1])));
    return sent.filter(each => words.has(wordOf(each)));
  } catch (error) {
    // Who cannot be asked has not said it; the blocks are read again.
    if (signal.aborted || !(error instanceof RpcFault)) throw error;
    return [];
  }
};

/** Who can be asked beside a node. */
export const witnessesBeside = (node: EvmNode, nodes: readonly EvmNode[]): readonly EvmNode[] =>
  nodes.filter(other => other !== node && !other.isResting());

/**
 * That two nodes name the same block says nothing of what the one that was read puts into it. Only what another tells of
 * as well stays verified.
 */
export const heldByWitnesses = async (
  blocks: readonly WatchedBlock[],
  witnesses: readonly EvmNode[],
  signal: AbortSignal,
): Promise<readonly WatchedBlock[]> => {
  let doubted = blocks
    .flatMap(({ movements, forwards }): readonly (Movement | Forward)[] => [...movements, ...forwards])
    .filter((each): each is Sent => each.verified && each.txHash !== null);
  for (const witness of witnesses) {
    if (doubted.length === 0) return blocks;
    const told = new Set(await toldBy(witness, doubted, signal));
    doubted = doubted.filter(each => !told.has(each));
  }
  const left = new Set<Movement | Forward>(doubted);
  const held = <T extends Movement | Forward>(each: T): T => (left.has(each) ? { ...each, verified: false } : each);
  return blocks.map(block => ({ ...block, movements: block.movements.map(held), forwards: block.forwards.map(held) }));
};
