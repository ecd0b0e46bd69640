import { slugs, testnets } from '../../../src/core/registry/backings.ts';
import { startFaultProxy, type Upstream } from '../../chains/faultProxy.ts';
import { startChain } from '../rpcFaults/world.ts';
import { type ChainRpc, createChainRpc } from '../sim/chainRpc.ts';

/** The network with the shortest block time, so that Florin polls often. */
export const network = 'arbitrum';
export const { chainId, caip2 } = testnets[network];
export const confirmations = 2;
const finalityLag = 64;

export type LocalChain = { readonly rpc: ChainRpc; readonly configFile: object; close(): void };

/** A block for every transaction. */
const miningAtOnce =
  (upstream: Upstream): Upstream =>
  async (method, params) => {
    const outcome = await upstream(method, params);
    if (method === 'eth_sendRawTransaction') await upstream('evm_mine', []);
    return outcome;
  };

/** A chain in this process that all Florins read, and the settings that lead them there. */
export const startLocalChain = async (): Promise<LocalChain> => {
  const { chain } = await startChain(network, finalityLag);
  // It is told of no fault.
  const server = await startFaultProxy(miningAtOnce(chain.upstream), { seed: 'failover' });
  // With nodes for every network, no process starts a local chain of its own.
  const nowhere = 'http://127.0.0.1:9/';
  const rule = { kind: 'depth', depth: confirmations };
  const networks = slugs.map(slug => [slug, { rule, rpcUrls: [slug === network ? server.url : nowhere] }]);
  return {
    rpc: createChainRpc(server.url),
    configFile: { networks: { sandbox: Object.fromEntries(networks) } },
    close: () => server.close(),
  };
};
