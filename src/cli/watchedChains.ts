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

type ConfiguredChain = {
  readonly caip2: string;
  readonly group: readonly [Network, ...Network[]];
  readonly rpcUrls: string[];
};

/** Every chain, once, with all its slugs. */
const configuredChains = (networks: readonly Network[]): ConfiguredChain[] =>
  [...Map.groupBy(networks, network => network.caip2)].map(([caip2, group]) => ({
    caip2,
    group: group as [Network, ...Network[]],
    rpcUrls: unique(group.flatMap(network => network.rpcUrls)),
  }));

/**
 * The chains as metrics name them, also those that only another process can reach, as it is with the local chain. That one
 * stands for several networks.
 */
export const meteredChains = (networks: readonly Network[]): MeteredChain[] =>
  configuredChains(networks).map(({ caip2, group: [first], rpcUrls }) => ({
    caip2,
    network: first.backing === 'devchain' ? 'local' : first.slug,
    nodes: rpcUrls.length,
  }));

const isReachable = ({ rpcUrls }: { readonly rpcUrls: readonly string[] }): boolean => rpcUrls.length > 0;

export const watchedChains = (
  networks: readonly Network[],
  local: DevChain | null,
  { log, meter }: Pick<Context, 'log' | 'meter'>,
): WatchedChain[] =>
  configuredChains(networks.filter(isReachable)).map(({ caip2, group, rpcUrls }) => {
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
