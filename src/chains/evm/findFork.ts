import type { Block } from '../../core/chain.ts';
import type { DriverHost } from '../driver.ts';
import type { Header } from './block.ts';
import { fetchHeaders } from './fetchBlocks.ts';
import type { EvmNode } from './node.ts';
import { RpcFault } from './rpc.ts';

const headersAtOnce = 16;

/** The highest common block of a node's chain and ours, or why only the operator can decide. */
export type Fork = ({ readonly ancestor: Block } | { readonly reason: string }) & {
  /** Our lowest block that the node's chain lacks. */
  readonly disputed: Block;
};

/** Where a node's chain leaves ours. */
export const findFork = async (
  host: Pick<DriverHost, 'storedBlock' | 'finalizedHeight'>,
  node: EvmNode,
  { head, block }: { readonly head: Header; readonly block: Block },
  signal: AbortSignal,
): Promise<Fork> => {
  let to = Math.min(head.number, block.number);
  let above: Header | null = null;
  let disputed = block;
  for (;;) {
    const from = Math.max(0, to - headersAtOnce + 1);
    const headers = await fetchHeaders(node, { from, to }, signal);
    if (above !== null && headers.at(-1)!.hash !== above.parentHash) {
      throw new RpcFault('malformed', undefined, "The node's chain changed while it was read.");
    }
    for (const header of headers.toReversed()) {
      const stored = header.number === block.number ? block : await host.storedBlock(header.number);
      if (stored === null) {
        return { reason: `A reorg goes below block ${header.number + 1}, the oldest block kept.`, disputed };
      }
      if (stored.hash !== header.hash) {
        disputed = stored;
        continue;
      }
      const finalized = host.finalizedHeight();
      if (finalized === null || stored.number >= finalized) return { ancestor: stored, disputed };
      return { reason: `A reorg goes below block ${finalized}, which was final.`, disputed };
    }
    if (from === 0) return { reason: "The node's chain starts with another first block.", disputed };
    above = headers[0]!;
    to = from - 1;
  }
};
