import { createEvmDriver } from '../chains/evm/evmDriver.ts';
import type { ListedToken } from '../chains/evm/inspectTokens.ts';
import type { Wake } from '../chains/evm/pollWait.ts';
import { callRpc } from '../chains/evm/rpc.ts';
import type { Log } from '../core/log.ts';
import { devChainId, type Network } from '../core/registry/networks.ts';
import type { DevChain } from '../local/devchain/startDevChain.ts';
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

/** Every chain with RPC URLs, once, with all its slugs. */
export const watchedChains = (networks: readonly Network[], local: DevChain | null, log: Log): WatchedChain[] => {
  const reachable = networks.filter(network => network.rpcUrls.length > 0);
  return [...Map.groupBy(reachable, network => network.caip2)].map(([caip2, group]) => {
    const [first] = group as [Network];
    const isQuiet = first.backing === 'devchain';
    const driver = createEvmDriver({
      caip2,
      chainId: first.chainId,
      rpcUrls: unique(group.flatMap(network => network.rpcUrls)),
      tokens: tokensOf(group),
      lookAlikes: lookAlikesOf(group),
      blockTimeSeconds: first.blockTimeSeconds,
      isQuiet,
      ...(isQuiet && local !== null ? { wake: wakeBy(local) } : {}),
      log,
      nowMs: monotonicMs,
    });
    return { caip2, networks: group, driver };
  });
};
