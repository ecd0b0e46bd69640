import type { Block, Movement, WatchedBlock } from '../../src/core/chain.ts';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import type { Context } from '../../src/engine/context.ts';
import { takeLease } from '../../src/storage/chain/chains.ts';

/** Funds that a test sends: amount, address, token (native coin if absent) and transaction. */
export type Sent = {
  readonly to: string;
  readonly amount: bigint;
  readonly contract?: string | null;
  readonly txHash?: string;
};
export type FedBlock = Block & { readonly sent: readonly Sent[] };

export type FedChain = {
  readonly caip2: string;
  /** The canonical blocks, oldest first. */
  readonly blocks: readonly FedBlock[];
  /** Adds a block for each list, on the newest block or on the one at `fork`, which replaces the blocks above it. */
  feed(lists: readonly (readonly Sent[])[], fork?: number): Promise<void>;
};

const firstNumber = 100;

/** A chain without a node: the test defines its blocks, and the engine applies them as if from a watcher. */
export const createFedChain = async (context: Context, caip2: string): Promise<FedChain> => {
  const { fence } = (await takeLease(context.db, { caip2, holder: 'test', seconds: 86_400 }))!;
  let made = 0;
  let blocks: FedBlock[] = [];
  const hash = (): string => `0x${(++made).toString(16).padStart(64, '0')}`;

  const movementOf = ({ to, amount, contract = null, txHash }: Sent, block: Block, at: number): Movement => ({
    key: `${block.hash}:${at}`,
    // By default one transaction makes all transfers of a block.
    txHash: txHash ?? block.hash,
    from: null,
    to,
    contract,
    amount,
    verified: true,
  });

  return {
    caip2,
    get blocks() {
      return blocks;
    },
    async feed(lists, fork) {
      const kept = fork === undefined ? blocks : blocks.filter(({ number }) => number <= fork);
      const rollbackTo = kept.length < blocks.length ? kept.at(-1)! : null;
      const added: (WatchedBlock & FedBlock)[] = [];
      for (const sent of lists) {
        const parent = added.at(-1) ?? kept.at(-1);
        const block: Block = {
          number: parent === undefined ? firstNumber : parent.number + 1,
          hash: hash(),
          parentHash: parent?.hash ?? '0x0',
          timestamp: Math.floor(Date.now() / 1000),
        };
        const movements = sent.map((one, at) => movementOf(one, block, at));
        added.push({ ...block, sent, movements, forwards: [] });
      }
      const tags = { safe: null, finalized: null, agreed: added.at(-1)!.number };
      await applyBlocks(context, { caip2, fence }, { kind: 'blocks', rollbackTo, blocks: added, tags });
      blocks = [...kept, ...added];
    },
  };
};
