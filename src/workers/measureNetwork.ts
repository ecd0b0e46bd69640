import type { ChainHealth } from '../chains/driver.ts';
import type { Network } from '../core/registry/networks.ts';
import type { ChainRow } from '../storage/chain/chains.ts';
import type { Measurement } from '../storage/chain/networkStatus.ts';
import type { Verdict } from './hysteresis.ts';

const blocksBehind = 20;

const verdictOf = ({ status, reason, latestBlock }: ChainHealth, row: ChainRow | null): Verdict => {
  if (row?.haltReason) return { status: 'down', reason: `It is halted. ${row.haltReason}` };
  const behind = (latestBlock ?? 0) - (row?.latestNumber ?? latestBlock ?? 0);
  if (status === 'operational' && behind > blocksBehind) {
    return { status: 'degraded', reason: `${behind} blocks have not been read yet.` };
  }
  return { status, reason };
};

/** The status of one network that the chain backs. */
export const measureNetwork = (network: Network, health: ChainHealth, row: ChainRow | null): Measurement => {
  const { environment, slug, caip2, currencies } = network;
  const { latestBlock, lagSeconds, unfitTokens, refusal } = health;
  const unfit = currencies.flatMap(({ symbol, contractAddress }) => {
    const reason = refusal ?? (contractAddress === null ? undefined : unfitTokens.get(contractAddress));
    return reason === undefined ? [] : [[symbol, reason] as const];
  });
  const verdict = verdictOf(health, row);
  return {
    environment,
    network: slug,
    caip2,
    status: verdict.status,
    reason: verdict.reason,
    latestBlock: latestBlock === null ? null : BigInt(latestBlock),
    lagSeconds,
    disabledCurrencies: Object.fromEntries(unfit),
  };
};
