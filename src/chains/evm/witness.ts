import type { Forward, Movement, WatchedBlock } from '../../core/chain.ts';
import { readCoinMove, readForwarded, readLog, readTransfer } from './block.ts';
import type { EvmNode } from './node.ts';
import { readHash, readList, readNumber, readObject } from './reading.ts';
import { RpcFault } from './rpc.ts';

/** A movement or forward whose transaction is known. */
type KnownTransfer = (Movement | Forward) & { readonly txHash: string };

type Compared =
  | Pick<Movement, 'key' | 'to' | 'contract' | 'amount'>
  | Pick<Forward, 'key' | 'from' | 'contract' | 'amount'>;

/** Position, direction, address, token and amount as one text. */
const fingerprintOf = (fields: Compared): string =>
  [fields.key, 'to' in fields ? `to ${fields.to}` : `from ${fields.from}`, fields.contract, fields.amount].join(' ');

/**
 * Fingerprints of all that a transaction moved, as this node reports it. Empty if the node does not have it or it
 * failed.
 */
const fingerprintsOf = (transaction: unknown, answer: unknown): readonly string[] => {
  if (transaction === null || answer === null) return [];
  const receipt = readObject(answer, 'a receipt');
  if (readNumber(receipt.status, "a receipt's status") !== 1) return [];
  const blockHash = readHash(receipt.blockHash, "a receipt's block");
  const fingerprints = readList(receipt.logs, "a receipt's logs").flatMap(value => {
    const log = { ...readLog(value), blockHash };
    const [transfer, forward] = [readTransfer(log), readForwarded(log)];
    if (forward !== null) return [fingerprintOf(forward)];
    return transfer === null ? [] : [fingerprintOf({ ...transfer, key: `${blockHash}:log:${transfer.index}` })];
  });
  const coin = readCoinMove(transaction, blockHash);
  return coin === null ? fingerprints : [...fingerprints, fingerprintOf(coin)];
};

/** The transfers that this node reports too, in the same block and with the same content. */
const confirmedBy = async (
  node: EvmNode,
  transfers: readonly KnownTransfer[],
  signal: AbortSignal,
): Promise<readonly KnownTransfer[]> => {
  const hashes = [...new Set(transfers.map(({ txHash }) => txHash))];
  const methods = ['eth_getTransactionByHash', 'eth_getTransactionReceipt'];
  const calls = hashes.flatMap(hash => methods.map(method => ({ method, params: [hash] })));
  try {
    const answers = await node.callMany(calls, signal);
    const fingerprints = new Set(hashes.flatMap((_, at) => fingerprintsOf(answers[2 * at], answers[2 * at + 1])));
    return transfers.filter(each => fingerprints.has(fingerprintOf(each)));
  } catch (error) {
    // A node that does not answer confirms nothing. The blocks are read again later.
    if (signal.aborted || !(error instanceof RpcFault)) throw error;
    return [];
  }
};

/** The other nodes that are not backing off. */
export const otherNodes = (node: EvmNode, nodes: readonly EvmNode[]): readonly EvmNode[] =>
  nodes.filter(other => other !== node && !other.isBackingOff());

/**
 * Two nodes that have the same block may still report different content for it. Only what a second node reports too
 * stays verified.
 */
export const verifyWithWitnesses = async (
  blocks: readonly WatchedBlock[],
  witnesses: readonly EvmNode[],
  signal: AbortSignal,
): Promise<readonly WatchedBlock[]> => {
  let doubted = blocks
    .flatMap(({ movements, forwards }): readonly (Movement | Forward)[] => [...movements, ...forwards])
    .filter((each): each is KnownTransfer => each.verified && each.txHash !== null);
  for (const witness of witnesses) {
    if (doubted.length === 0) return blocks;
    const confirmed = new Set(await confirmedBy(witness, doubted, signal));
    doubted = doubted.filter(each => !confirmed.has(each));
  }
  const left = new Set<Movement | Forward>(doubted);
  const withVerification = <T extends Movement | Forward>(each: T): T =>
    left.has(each) ? { ...each, verified: false } : each;
  return blocks.map(block => ({
    ...block,
    movements: block.movements.map(withVerification),
    forwards: block.forwards.map(withVerification),
  }));
};
