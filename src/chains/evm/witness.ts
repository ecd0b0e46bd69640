import type { Movement, WatchedBlock } from '../../core/chain.ts';
import { readCoinTransaction, readLog, readTransfer } from './block.ts';
import type { EvmNode } from './node.ts';
import { readHash, readList, readNumber, readObject } from './reading.ts';
import { RpcFault } from './rpc.ts';

/** A movement of which a transaction is known. */
type Sent = Movement & { readonly txHash: string };

/** What identifies a movement and what it is worth, as text. */
const wordOf = ({ key, to, contract, amount }: Pick<Movement, 'key' | 'to' | 'contract' | 'amount'>): string =>
  [key, to, contract, amount].join(' ');

/** What a transaction moved by this node's word, wherever it has it; nothing if it does not, or if that failed. */
const wordsOf = (transaction: unknown, answer: unknown): readonly string[] => {
  if (transaction === null || answer === null) return [];
  const receipt = readObject(answer, 'a receipt');
  if (readNumber(receipt.status, "a receipt's status") !== 1) return [];
  const blockHash = readHash(receipt.blockHash, "a receipt's block");
  const words = readList(receipt.logs, "a receipt's logs").flatMap(value => {
    const transfer = readTransfer(readLog(value));
    return transfer === null ? [] : [wordOf({ ...transfer, key: `${blockHash}:log:${transfer.index}` })];
  });
  const coin = readCoinTransaction(transaction);
  if (coin !== null) {
    words.push(wordOf({ to: coin.to, contract: null, amount: coin.value, key: `${blockHash}:tx:${coin.index}` }));
  }
  return words;
};

/** Which of these movements this node tells of as well, in the same block and word for word. */
const toldBy = async (node: EvmNode, sent: readonly Sent[], signal: AbortSignal): Promise<readonly Sent[]> => {
  const hashes = [...new Set(sent.map(({ txHash }) => txHash))];
  const methods = ['eth_getTransactionByHash', 'eth_getTransactionReceipt'];
  const calls = hashes.flatMap(hash => methods.map(method => ({ method, params: [hash] })));
  try {
    const answers = await node.callMany(calls, signal);
    const words = new Set(hashes.flatMap((_, at) => wordsOf(answers[2 * at], answers[2 * at + 1])));
    return sent.filter(movement => words.has(wordOf(movement)));
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
    .flatMap(({ movements }) => movements)
    .filter((movement): movement is Sent => movement.verified && movement.txHash !== null);
  for (const witness of witnesses) {
    if (doubted.length === 0) return blocks;
    const told = new Set(await toldBy(witness, doubted, signal));
    doubted = doubted.filter(movement => !told.has(movement));
  }
  const left = new Set<Movement>(doubted);
  const held = (movement: Movement): Movement => (left.has(movement) ? { ...movement, verified: false } : movement);
  return blocks.map(block => ({ ...block, movements: block.movements.map(held) }));
};
