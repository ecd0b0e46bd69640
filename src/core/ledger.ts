import type { Environment } from './environment.ts';

/**
 * `received` and `stray` are what payers sent, `found` is what sweeps moved beyond the recorded transfers, `corrected` is
 * what an operator entered. `forwarders` is what receiving addresses hold, `treasury` what is in the merchant's own wallet.
 */
export const ledgerAccounts = ['received', 'stray', 'found', 'corrected', 'forwarders', 'treasury'] as const;
export type LedgerAccount = (typeof ledgerAccounts)[number];

/** A token of one account on one chain. */
export type LedgerToken = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly caip2: string;
  /** Null for the native coin. */
  readonly contract: string | null;
};

/** What left one ledger account and entered another, in base units. */
export type LedgerFlow = LedgerToken & {
  readonly source: LedgerAccount;
  readonly destination: LedgerAccount;
  readonly amount: bigint;
};

/** The balances of a token: what has entered each ledger account minus what has left it. They add up to zero. */
export type LedgerBalances = LedgerToken & {
  readonly balances: Readonly<Record<LedgerAccount, bigint>>;
  /** What sweeps have moved to the treasury. */
  readonly swept: bigint;
};

const tokenName = ({ accountId, environment, caip2, contract }: LedgerToken): string =>
  [accountId, environment, caip2, contract ?? ''].join(' ');

const balancesOf = (flows: readonly LedgerFlow[]): LedgerBalances => {
  const { accountId, environment, caip2, contract } = flows[0]!;
  const balances: Record<LedgerAccount, bigint> = {
    ...{ received: 0n, stray: 0n, found: 0n, corrected: 0n, forwarders: 0n, treasury: 0n },
  };
  let swept = 0n;
  for (const { source, destination, amount } of flows) {
    balances[source] -= amount;
    balances[destination] += amount;
    if (source === 'forwarders' && destination === 'treasury') swept += amount;
  }
  return { accountId, environment, caip2, contract, balances, swept };
};

/** Adds up flows by token. */
export const ledgerBalances = (flows: readonly LedgerFlow[]): LedgerBalances[] =>
  [...Map.groupBy(flows, tokenName).values()].map(balancesOf);
