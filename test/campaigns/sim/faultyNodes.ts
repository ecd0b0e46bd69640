import { testnets } from '../../../src/core/registry/backings.ts';
import { type FaultProxy, type Faults, startFaultProxy, type Upstream } from '../../chains/faultProxy.ts';
import { startChain } from '../rpcFaults/world.ts';
import { type ChainRpc, createChainRpc } from './chainRpc.ts';

/** The network with the shortest block time, so that Florin polls often. */
export const faultySlug = 'arbitrum';
const nodeCount = 12;
/** Beyond all blocks of a run: no block becomes final, so that reorgs may go as deep as on the local chain. */
const finalityLag = 1_000_000;

/** What a node leaves out. Ranges of up to 70 blocks are read at once, so that few answers about blocks may be wrong. */
const omissions: Faults = {
  serverError: 0.002,
  staleHead: 0.05,
  emptyLogs: 0.04,
  clampedRange: 0.05,
  truncatedLogs: 0.04,
  nullReceipt: 0.01,
  nullBlock: 0.0005,
  alteredReceipts: 0.05,
  droppedBalance: 0.1,
};
/** Two nodes with the same forgery look like a fork that Florin does not know, so that one node has each kind. */
const forgeries: readonly Faults[] = [{ emptiedBloom: 0.5 }, { forgedHeader: 0.005 }];

export type FaultyNodes = {
  readonly chainId: number;
  /** A node that leaves out nothing. */
  readonly rpc: ChainRpc;
  /** The settings of Florin's networks. */
  readonly networks: Readonly<Record<string, object>>;
  /** From now on all answers are right. */
  heal(): void;
  faulty(): number;
  close(): void;
};

/** As the local chain does it: a block for every transaction, also for one that waits for an earlier one. */
const miningAtOnce =
  (upstream: Upstream): Upstream =>
  async (method, params) => {
    const outcome = await upstream(method, params);
    if (method === 'eth_sendRawTransaction') await upstream('evm_mine', []);
    return outcome;
  };

/** A chain with the identity of a test network, behind nodes that leave things out. */
export const startFaultyNodes = async (seed: string): Promise<FaultyNodes> => {
  const { chain } = await startChain(faultySlug, finalityLag);
  const honest = await startFaultProxy(miningAtOnce(chain.upstream), { seed });
  const proxies: FaultProxy[] = [];
  for (let at = 0; at < nodeCount; at++) {
    const faults = { ...omissions, ...forgeries[at] };
    proxies.push(
      await startFaultProxy(chain.upstream, { seed: `${seed} ${at}`, faults, offersBlockReceipts: at % 2 === 0 }),
    );
  }
  // The network lists one token. Payments in the wrong token need another.
  const other = { symbol: 'OTHER', name: 'Other Token', contractAddress: chain.token, decimals: 6 };
  return {
    chainId: testnets[faultySlug].chainId,
    rpc: createChainRpc(honest.url),
    networks: { [faultySlug]: { rpcUrls: proxies.map(({ url }) => url), tokens: [other] } },
    heal() {
      for (const proxy of proxies) proxy.set({});
    },
    faulty: () => proxies.reduce((sum, proxy) => sum + proxy.faulty(), 0),
    close() {
      for (const proxy of [honest, ...proxies]) proxy.close();
    },
  };
};
