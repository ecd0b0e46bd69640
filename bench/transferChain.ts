import { join } from 'node:path';
import { keccak256Hex } from '../src/chains/evm/keccak.ts';
import { devTokens } from '../src/cli/compose.ts';
import type { Block } from '../src/core/chain.ts';
import { type ChainRecord, openJournal } from '../src/local/devchain/journal.ts';
import { type DevNode, launchNode } from '../src/local/devchain/launchNode.ts';
import { openProvider, payer, type Send, sendOrThrow } from '../src/local/devchain/provider.ts';
import { rawTransaction } from '../src/local/devchain/rawTransaction.ts';

export type TransferChain = {
  readonly rpcUrl: string;
  readonly nodePid: number;
  /** The block before the first transfer, and the last block with transfers. */
  readonly before: Block;
  readonly head: Block;
  stop(): Promise<void>;
};

type MinedBlock = Readonly<Record<'number' | 'hash' | 'parentHash' | 'timestamp' | 'mixHash', string>> & {
  readonly transactions: readonly unknown[];
};

const selector = (signature: string): string => `0x${keccak256Hex(Buffer.from(signature)).slice(0, 8)}`;
const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const hex = (value: number): string => `0x${value.toString(16)}`;

export const transferData = (to: string, amount: bigint): string =>
  selector('transfer(address,uint256)') + word(BigInt(to)) + word(amount);
export const mintData = (to: string, amount: bigint): string =>
  selector('mint(address,uint256)') + word(BigInt(to)) + word(amount);

const blockOf = ({ number, hash, parentHash, timestamp }: MinedBlock): Block => ({
  number: Number(number),
  hash,
  parentHash,
  timestamp: Number(timestamp),
});

const start = (journalPath: string, signal: AbortSignal): Promise<DevNode> =>
  launchNode({ port: 0, tokens: devTokens(), emptyBlockIntervalMs: 1_000, journalPath }, () => {}, signal);

/** Starts the node once, so that its first blocks deploy the contracts. */
const deploy = async (journalPath: string): Promise<void> => {
  const over = new AbortController();
  const node = await start(journalPath, over.signal);
  over.abort();
  await node.exited;
};

const replay = async (send: Send, records: readonly ChainRecord[]): Promise<void> => {
  for (const record of records) {
    if (record.kind !== 'block') continue;
    await sendOrThrow(send, 'hardhat_setPrevRandao', [record.prevRandao]);
    for (const raw of record.transactions) await sendOrThrow(send, 'eth_sendRawTransaction', [raw]);
    await sendOrThrow(send, 'evm_mine', [record.timestamp]);
  }
};

/** Adds blocks to the journal. The node that starts on it replays them. */
const createMiner = async (journalPath: string) => {
  const { send } = await openProvider();
  const { journal, records } = await openJournal(journalPath);
  await replay(send, records);
  let nonce = Number(await sendOrThrow(send, 'eth_getTransactionCount', [payer.address, 'latest']));
  const waiting: ChainRecord[] = [];
  return {
    async mine(token: string, calls: readonly string[]): Promise<Block> {
      const transaction = { from: payer.address, to: token, gas: hex(100_000) };
      for (const data of calls) {
        await sendOrThrow(send, 'eth_sendTransaction', [{ ...transaction, nonce: hex(nonce++), data }]);
      }
      const parent = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', false])) as MinedBlock;
      await sendOrThrow(send, 'evm_mine', [Math.max(Math.floor(Date.now() / 1000), Number(parent.timestamp))]);
      const block = (await sendOrThrow(send, 'eth_getBlockByNumber', ['latest', true])) as MinedBlock;
      if (block.transactions.length !== calls.length) throw new Error('a block does not have all transactions');
      const transactions = block.transactions.map(rawTransaction);
      const { hash, timestamp, mixHash: prevRandao } = block;
      waiting.push({ kind: 'block', hash, timestamp, prevRandao, transactions });
      return blockOf(block);
    },
    async finish(): Promise<void> {
      await journal.append(waiting);
      await journal.close();
    },
  };
};

/** Starts a dev node in its own process. Its chain has one transfer to each recipient, `perBlock` in each block. */
export const startTransferChain = async (
  folder: string,
  plan: { token: string; amount: bigint; recipients: readonly string[]; perBlock: number },
): Promise<TransferChain> => {
  const { token, amount, recipients, perBlock } = plan;
  const journalPath = join(folder, 'bench-chain.journal');
  await deploy(journalPath);
  const miner = await createMiner(journalPath);
  const before = await miner.mine(token, [mintData(payer.address, amount * BigInt(recipients.length))]);
  let head = before;
  for (let at = 0; at < recipients.length; at += perBlock) {
    head = await miner.mine(
      token,
      recipients.slice(at, at + perBlock).map(to => transferData(to, amount)),
    );
  }
  await miner.finish();
  const over = new AbortController();
  const node = await start(journalPath, over.signal);
  return {
    rpcUrl: `http://127.0.0.1:${node.port}`,
    nodePid: node.pid,
    before,
    head,
    async stop() {
      over.abort();
      await node.exited;
    },
  };
};
