import type { UnsweptRow } from '../../core/api/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { formatAmount } from '../../core/money.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import { type Holding, readHoldings, unsweptPayments } from '../../storage/settlement/holdings.ts';
import type { Context } from '../context.ts';
import { contractRefusal, type Refusal } from '../wallets/contractTreasury.ts';
import { readStrays, type StrayItem } from './strayFunds.ts';
import { batchesOf, ownItem, paymentsInSweep, type SweepItem } from './sweepBatches.ts';
import { chainIdOf, estimateBatch } from './sweepPlan.ts';

/** Holdings with an estimate. Further ones are shown without. */
const estimatedHoldings = 20;
/** Payments per estimate, because a node executes each forwarder. The rest is extrapolated. */
const estimatedPayments = 10;
/** The base cost of a transaction. */
const baseGas = 21_000n;

/** A holding of the payments' own token, with the strays of the same token. */
type Unswept = Holding & { readonly strays: readonly StrayItem[]; readonly refusal: string | null };

/** Open pages reload every few seconds, and nodes are needed for other work, so estimates are kept for a minute. */
const keptEstimateMs = 60_000;
type Estimate = {
  readonly found: Awaited<ReturnType<typeof estimateBatch>>;
  readonly payments: number;
  readonly untilMs: number;
};
const keptEstimates = createRecentMap<Estimate>(1_000);

const sampleOf = async (context: Context, scope: Scope, unswept: Unswept): Promise<readonly SweepItem[]> => {
  if (unswept.payments === unswept.strays.length) return unswept.strays.slice(0, estimatedPayments);
  const rows = await unsweptPayments(context.listDb, scope, unswept, estimatedPayments);
  return rows.filter(row => row.caip2 === unswept.caip2).map(ownItem);
};

const keptEstimate = async (context: Context, scope: Scope, unswept: Unswept): Promise<Estimate | null> => {
  const { network, currency, caip2, contract, treasury } = unswept;
  const key = JSON.stringify([scope.accountId, scope.environment, network, currency, caip2, contract, treasury]);
  const cached = keptEstimates.get(key);
  if (cached && context.clock.nowMs() < cached.untilMs) return cached;
  const [batch] = batchesOf(context, scope, await sampleOf(context, scope, unswept));
  if (!batch) return null;
  const found = await estimateBatch(context, batch);
  const kept = { found, payments: batch.items.length, untilMs: context.clock.nowMs() + keptEstimateMs };
  keptEstimates.set(key, kept);
  return kept;
};

/** Estimated on the oldest payments and extrapolated to all. */
const gasOf = async (context: Context, scope: Scope, unswept: Unswept): Promise<UnsweptRow['gas']> => {
  const onChain = context.networks.all().filter(({ caip2 }) => caip2 === unswept.caip2);
  // All networks share the local chain, and each has its own coin.
  const network = onChain.find(({ slug }) => slug === unswept.network) ?? onChain[0];
  const kept = network ? await keptEstimate(context, scope, unswept) : null;
  if (!network || !kept?.found) return null;
  const { found, payments } = kept;
  const transactions = BigInt(Math.ceil(unswept.payments / paymentsInSweep));
  const work = found.units > baseGas ? found.units - baseGas : 0n;
  const units = transactions * baseGas + (work * BigInt(unswept.payments)) / BigInt(payments);
  const decimals = context.networks.tokenOf(unswept.caip2, null)?.decimals ?? null;
  return {
    units: units.toString(),
    costNative: found.price === null || decimals === null ? null : formatAmount(units * found.price, decimals),
    nativeCurrency: network.nativeCurrency,
  };
};

const placeOf = (holding: Omit<Holding, 'amount' | 'payments'>): string => {
  const { network, currency, treasury, caip2, contract, decimals } = holding;
  return JSON.stringify([network, currency, treasury, caip2, contract, decimals]);
};

/** Adds the strays to the holdings of the same token and treasury. What must not be swept is a row of its own. */
const withStrays = (holdings: readonly Holding[], strays: readonly StrayItem[]): Unswept[] => {
  const placed = Map.groupBy(strays, stray =>
    JSON.stringify([placeOf({ ...stray, treasury: stray.row.treasury }), stray.refusal]),
  );
  const merged = holdings.map((holding): Unswept => {
    const key = JSON.stringify([placeOf(holding), null]);
    const same = placed.get(key) ?? [];
    placed.delete(key);
    const amount = same.reduce((sum, stray) => sum + stray.amount, holding.amount);
    return { ...holding, amount, payments: holding.payments + same.length, strays: same, refusal: null };
  });
  const alone = [...placed.values()].map((group): Unswept => {
    const { network, caip2, currency, contract, decimals, row, refusal } = group[0]!;
    const amount = group.reduce((sum, stray) => sum + stray.amount, 0n);
    const place = { network, caip2, currency, contract, decimals, treasury: row.treasury };
    return { ...place, amount, payments: group.length, strays: group, refusal };
  });
  const keyed = [...merged, ...alone].map(unswept => ({ unswept, key: placeOf(unswept) }));
  return keyed.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key)).map(({ unswept }) => unswept);
};

/** No confirmation lifts it. */
const lasting = (reason: string): Refusal => ({ reason, isConfirmable: false });

/** Final funds and strays at forwarders, by network, token and treasury. Florin does not move funds of extended keys. */
export const readUnswept = async (context: Context, scope: Scope): Promise<UnsweptRow[]> => {
  const unswept = withStrays(await readHoldings(context.listDb, scope), await readStrays(context, scope));
  return Promise.all(
    unswept.map(async (each, at) => {
      const refusal = each.refusal === null ? await contractRefusal(context, scope, each) : lasting(each.refusal);
      return {
        network: each.network,
        caip2: each.caip2,
        chainId: chainIdOf(each.caip2),
        currency: each.currency,
        contractAddress: each.contract,
        treasury: each.treasury,
        amount: formatAmount(each.amount, each.decimals),
        payments: each.payments,
        strays: each.strays.length,
        refusal: refusal?.reason ?? null,
        isConfirmable: refusal?.isConfirmable ?? false,
        gas: at < estimatedHoldings && refusal === null ? await gasOf(context, scope, each) : null,
      };
    }),
  );
};
