import { createEvmDriver } from '../chains/evm/evmDriver.ts';
import type { ListedToken } from '../chains/evm/inspectTokens.ts';
import type { Wake } from '../chains/evm/pollWait.ts';
import { callRpc } from '../chains/evm/rpc.ts';
import { devChainId, type Network } from '../core/registry/networks.ts';
import type { Context } from '../engine/context.ts';
import type { DevChain } from '../local/devchain/startDevChain.ts';
import type { MeteredChain } from '../metrics/metrics.ts';
import type { WatchedChain } from '../workers/watcher.ts';
import { monotonicMs } from './compose.ts';

export const localCaip2 = `eip155:${devChainId}`;

const longPollMs = 20_000;

/** The local chain reports new blocks itself. */
const wakeBy =
  ({ rpcUrl }: DevChain): Wake =>
  async (head: string, signal: AbortSignal): Promise<boolean> => {
    const options = { signal, timeoutMs: longPollMs + 5_000 };
    return (await callRpc(rpcUrl, 'florin_waitForBlock', [head, longPollMs], options)) !== head;
  };

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)];

const distinct = (tokens: readonly ListedToken[]): ListedToken[] => [
  ...new Map(tokens.map(token => [token.contract, token])).values(),
];

const tokensOf = (networks: readonly Network[]): ListedToken[] =>
  distinct(
    networks.flatMap(({ currencies }) =>
      currencies.flatMap(({ contractAddress: contract, decimals }) =>
        contract === null ? [] : [{ contract, decimals }],
      ),
    ),
  );

const lookAlikesOf = (networks: readonly Network[]): ListedToken[] =>
  distinct(
    networks.flatMap(({ lookAlikes }) => lookAlikes.map(({ address: contract, decimals }) => ({ contract, decimals }))),
  );

type Reachable = {
  readonly caip2: string;
  readonly group: readonly [Network, ...Network[]];
  readonly rpcUrls: string[];
};

/** Every chain with RPC URLs, once, with all its slugs. */
const reachableChains = (networks: readonly Network[]): Reachable[] => {
  const reachable = networks.filter(network => network.rpcUrls.length > 0);
  return [...Map.groupBy(reachable, network => network.caip2)].map(([caip2, group]) => ({
    caip2,
    group: group as [Network, ...Network[]],
    rpcUrls: unique(group.flatMap(network => network.rpcUrls)),
  }));
};

/** The chains that this process can reach, as metrics name them. The local chain stands for several networks. */
export const meteredChains = (networks: readonly Network[]): MeteredChain[] =>
  reachableChains(networks).map(({ caip2, group: [first], rpcUrls }) => ({
    caip2,
    network: first.backing === 'devchain' ? 'local' : first.slug,
    nodes: rpcUrls.length,
  }));

export const watchedChains = (
  networks: readonly Network[],
  local: DevChain | null,
  { log, meter }: Pick<Context, 'log' | 'meter'>,
): WatchedChain[] =>
  reachableChains(networks).map(({ caip2, group, rpcUrls }) => {
    const [first] = group;
    const isQuiet = first.backing === 'devchain';
    const driver = createEvmDriver({
      caip2,
      chainId: first.chainId,
      rpcUrls,
      tokens: tokensOf(group),
      lookAlikes: lookAlikesOf(group),
      blockTimeSeconds: first.blockTimeSeconds,
      isQuiet,
      ...(isQuiet && local !== null ? { wake: wakeBy(local) } : {}),
      log,
      onNodeFault: index => meter.rpcFault(caip2, index),
      nowMs: monotonicMs,
    });
    return { caip2, networks: group, driver };
  });
