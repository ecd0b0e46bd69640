import { encodeSweep, forwarderFactory } from '../../chains/evm/forwarder.ts';
import type { SweepPlan, UnsweptRow } from '../../core/dashboard/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { formatAmount } from '../../core/money.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import { findCurrency } from '../../core/registry/networks.ts';
import { type Holding, readHoldings, unsweptPayments } from '../../storage/holdings.ts';
import type { PaymentRow } from '../../storage/payments.ts';
import type { Context } from '../context.ts';
import { heldBy } from '../movedFunds.ts';
import { assertAuthentic, TamperedPayment } from '../paymentAddress.ts';

/** About 13 million gas with new forwarders, which fits into one transaction on every network. */
export const paymentsInSweep = 100;
const transactionsInPlan = 10;
/** Holdings with an estimate. Further ones are shown without. */
const estimatedHoldings = 20;
/** Payments per estimate, because a node executes each forwarder. The rest is extrapolated. */
const estimatedPayments = 10;
/** The base cost of a transaction. */
const baseGas = 21_000n;

export type SweptToken = { readonly network: string; readonly currency: string };

/** The configured token. Throws if there is none. */
export const sweptToken = (context: Context, scope: Scope, request: SweptToken): SweptToken => {
  const network = context.networks.configured(scope.environment, request.network);
  if (!network) throw invalid('network', 'No network has this name.');
  const currency = findCurrency(network, request.currency);
  if (!currency) throw invalid('currency', `${network.slug} does not support this currency.`);
  return { network: network.slug, currency: currency.symbol };
};

/** A tampered row has another treasury or address: sweeping it would do nothing, or not what it says. */
const isAuthentic = (context: Context, row: PaymentRow): boolean => {
  try {
    assertAuthentic(context, row);
    return true;
  } catch (error) {
    if (error instanceof TamperedPayment) return false;
    throw error;
  }
};

const chainIdOf = (caip2: string): number => Number(caip2.slice('eip155:'.length));

type Batch = { readonly caip2: string; readonly data: string; readonly rows: readonly PaymentRow[] };

/** Each batch is one transaction: forwarders of one treasury and one token. */
const batchesOf = (context: Context, scope: Scope, rows: readonly PaymentRow[]): Batch[] => {
  const authentic = rows.filter(row => isAuthentic(context, row));
  const groups = Map.groupBy(authentic, row => `${row.caip2} ${row.contract} ${row.treasury}`);
  return [...groups.values()].flatMap(group => {
    const batches: Batch[] = [];
    for (let at = 0; at < group.length; at += paymentsInSweep) {
      const some = group.slice(at, at + paymentsInSweep);
      const { caip2, contract, treasury } = some[0]!;
      const salts = some.map(row => context.vault.salt(scope, BigInt(row.derivationIndex)));
      batches.push({ caip2, data: encodeSweep({ treasury, token: contract, salts }), rows: some });
    }
    return batches;
  });
};

const estimate = (context: Context, { caip2, data }: Batch) =>
  context.estimateGas(caip2, { to: forwarderFactory, data });

const maxDecimals = (rows: readonly { readonly decimals: number }[]): number =>
  rows.reduce((most, { decimals }) => Math.max(most, decimals), 0);

/** The transactions that sweep a token's funds to one treasury, oldest payments first. Nothing is signed here. */
export const planSweep = async (
  context: Context,
  scope: Scope,
  request: SweptToken & { readonly treasury: string },
): Promise<SweepPlan> => {
  const { treasury } = request;
  const token = { ...sweptToken(context, scope, request), treasury };
  const limit = paymentsInSweep * transactionsInPlan;
  const rows = await unsweptPayments(context.listDb, scope, token, limit);
  if (rows.length === 0) throw new FlorinError('conflict', 'There are no funds left to sweep to this treasury.');
  const batches = batchesOf(context, scope, rows).slice(0, transactionsInPlan);
  const estimates = await Promise.all(batches.map(batch => estimate(context, batch)));
  const planned = batches.flatMap(batch => batch.rows);
  const decimals = maxDecimals(planned);
  const amount = planned.reduce((sum, row) => sum + heldBy(row) * 10n ** BigInt(decimals - row.decimals), 0n);
  const held = (await readHoldings(context.listDb, scope))
    .filter(each => each.network === token.network && each.currency === token.currency && each.treasury === treasury)
    .reduce((sum, { payments }) => sum + payments, 0);
  return {
    transactions: batches.map((batch, at) => ({
      chainId: chainIdOf(batch.caip2),
      to: forwarderFactory,
      data: batch.data,
      value: '0x0',
      payments: batch.rows.map(row => row.id),
      gas: estimates[at]?.units.toString() ?? null,
    })),
    amount: formatAmount(amount, decimals),
    currency: token.currency,
    remaining: Math.max(0, held - planned.length),
  };
};

/** Open pages reload every few seconds, and nodes are needed for other work, so estimates are kept for a minute. */
const keptEstimateMs = 60_000;
type Estimate = {
  readonly found: Awaited<ReturnType<typeof estimate>>;
  readonly payments: number;
  readonly untilMs: number;
};
const keptEstimates = createRecentMap<Estimate>(1_000);

const keptEstimate = async (context: Context, scope: Scope, holding: Holding): Promise<Estimate | null> => {
  const { network, currency, caip2, contract, treasury } = holding;
  const key = JSON.stringify([scope.accountId, scope.environment, network, currency, caip2, contract, treasury]);
  const cached = keptEstimates.get(key);
  if (cached && context.clock.nowMs() < cached.untilMs) return cached;
  const rows = await unsweptPayments(context.listDb, scope, holding, estimatedPayments);
  const own = rows.filter(row => row.caip2 === caip2);
  const [batch] = batchesOf(context, scope, own);
  if (!batch) return null;
  const found = await estimate(context, batch);
  const kept = { found, payments: batch.rows.length, untilMs: context.clock.nowMs() + keptEstimateMs };
  keptEstimates.set(key, kept);
  return kept;
};

/** Estimated on the oldest payments and extrapolated to all. */
const gasOf = async (context: Context, scope: Scope, holding: Holding): Promise<UnsweptRow['gas']> => {
  const onChain = context.networks.all().filter(({ caip2 }) => caip2 === holding.caip2);
  // All networks share the local chain, and each has its own coin.
  const network = onChain.find(({ slug }) => slug === holding.network) ?? onChain[0];
  const kept = network ? await keptEstimate(context, scope, holding) : null;
  if (!network || !kept?.found) return null;
  const { found, payments } = kept;
  const transactions = BigInt(Math.ceil(holding.payments / paymentsInSweep));
  const work = found.units > baseGas ? found.units - baseGas : 0n;
  const units = transactions * baseGas + (work * BigInt(holding.payments)) / BigInt(payments);
  const decimals = context.networks.decimalsOf(holding.caip2, null);
  return {
    units: units.toString(),
    costNative: found.price === null || decimals === null ? null : formatAmount(units * found.price, decimals),
    nativeCurrency: network.nativeCurrency,
  };
};

/** Final funds at forwarders, by network, token and treasury. Florin does not move funds of extended keys. */
export const readUnswept = async (context: Context, scope: Scope): Promise<UnsweptRow[]> => {
  const holdings = await readHoldings(context.listDb, scope);
  return Promise.all(
    holdings.map(async (holding, at) => ({
      network: holding.network,
      caip2: holding.caip2,
      chainId: chainIdOf(holding.caip2),
      currency: holding.currency,
      contractAddress: holding.contract,
      treasury: holding.treasury,
      amount: formatAmount(holding.amount, holding.decimals),
      payments: holding.payments,
      gas: at < estimatedHoldings ? await gasOf(context, scope, holding) : null,
    })),
  );
};
