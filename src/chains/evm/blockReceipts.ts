import { type Header, type LogEntry, readLog } from './block.ts';
import { keccak256Hex } from './keccak.ts';
import type { EvmNode } from './node.ts';
import { orderedTrieRoot } from './orderedTrie.ts';
import { readBytes, readHash, readList, readNumber, readObject, readQuantity } from './reading.ts';
import { encodeRlp, rlpBytes, rlpNumber } from './rlp.ts';
import { RpcFault } from './rpc.ts';

/** A receipt as it is hashed: status, cumulative gas, bloom filter and logs, prefixed by its type. */
const encodeReceipt = (value: unknown, logs: readonly LogEntry[]): Uint8Array => {
  const receipt = readObject(value, 'a receipt');
  const type = receipt.type === undefined ? 0 : readNumber(receipt.type, "a receipt's type");
  // The OP Stack adds two fields to deposit receipts.
  const isDeposit = type === 0x7e && receipt.depositReceiptVersion !== undefined;
  const added = isDeposit ? [receipt.depositNonce, receipt.depositReceiptVersion] : [];
  const fields = encodeRlp([
    rlpNumber(readQuantity(receipt.status, "a receipt's status")),
    rlpNumber(readQuantity(receipt.cumulativeGasUsed, "a receipt's gas")),
    readBytes(receipt.logsBloom, "a receipt's bloom filter"),
    logs.map(({ contract, topics, data }) => [rlpBytes(contract), topics.map(rlpBytes), rlpBytes(data)]),
    ...added.map(field => rlpNumber(readQuantity(field, 'a deposit receipt'))),
  ]);
  return type === 0 ? fields : Buffer.concat([Buffer.from([type]), fields]);
};

/**
 * Polygon adds a receipt for what arrived from Ethereum ("state sync") after those of the transactions. In blocks before
 * the Madhugiri fork the receipts root does not cover it. Its transaction hash follows from the block.
 */
const stateSyncHash = ({ number, hash }: Header): string => {
  const height = Buffer.alloc(8);
  height.writeBigUInt64BE(BigInt(number));
  return `0x${keccak256Hex(Buffer.concat([Buffer.from('matic-bor-receipt-'), height, Buffer.from(hash.slice(2), 'hex')]))}`;
};

/** The receipts that a root may cover: all, or all but one for a state sync. */
const coveredSets = (header: Header, receipts: readonly unknown[]): readonly (readonly unknown[])[] => {
  const last = receipts.at(-1);
  if (last === undefined) return [receipts];
  const hash = readHash(readObject(last, 'a receipt').transactionHash, "a receipt's transaction");
  return hash === stateSyncHash(header) ? [receipts, receipts.slice(0, -1)] : [receipts];
};

/**
 * All logs of a block that the receipts root in its header proves, null if it proves none. Undefined if the node does not offer
 * block receipts.
 */
export const provenLogs = async (
  node: EvmNode,
  header: Header,
  signal: AbortSignal,
): Promise<readonly LogEntry[] | null | undefined> => {
  let answer: unknown;
  try {
    answer = await node.call('eth_getBlockReceipts', [header.hash], signal);
  } catch (error) {
    if (error instanceof RpcFault && error.kind === 'refused') return undefined;
    throw error;
  }
  if (answer === null) return undefined;
  for (const receipts of coveredSets(header, readList(answer, "a block's receipts"))) {
    const logs = receipts.map(receipt =>
      readList(readObject(receipt, 'a receipt').logs, "a receipt's logs").map(readLog),
    );
    const root = orderedTrieRoot(receipts.map((receipt, at) => encodeReceipt(receipt, logs[at]!)));
    if (root === header.receiptsRoot) return logs.flat();
  }
  return null;
};
