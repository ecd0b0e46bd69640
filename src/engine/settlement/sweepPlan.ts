import { forwarderFactory } from '../../chains/evm/forwarder.ts';
import type { SweepPlan } from '../../core/api/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { formatAmount } from '../../core/money.ts';
import { findCurrency } from '../../core/registry/networks.ts';
import { readHoldings, unsweptPayments } from '../../storage/settlement/holdings.ts';
import type { Context } from '../context.ts';
import { knownTokens } from '../payments/tokenText.ts';
import { contractRefusal } from '../wallets/contractTreasury.ts';
import { requireFactory } from '../wallets/requireFactory.ts';
import { readStrays } from './strayFunds.ts';
import { type Batch, batchesOf, failingItems, ownItem, paymentsInSweep, type SweepItem } from './sweepBatches.ts';

const transactionsInPlan = 10;
/** Twice what a plan holds, so that items that fail do not keep others out of it. */
const consideredPayments = 2 * paymentsInSweep * transactionsInPlan;

export type SweptToken = { readonly network: string; readonly currency: string };

/** The configured token or look-alike. Throws if there is none. */
export const sweptToken = (context: Context, scope: Scope, request: SweptToken): SweptToken => {
  const network = context.networks.configured(scope.environment, request.network);
  if (!network) throw invalid('network', 'No network has this name.');
  const symbol = findCurrency(network, request.currency)?.symbol ?? request.currency;
  const isKnown = knownTokens(network).some(token => token.symbol === symbol);
  if (!isKnown) throw invalid('currency', `${network.slug} does not support this currency.`);
  return { network: network.slug, currency: symbol };
};

export const chainIdOf = (caip2: string): number => Number(caip2.slice('eip155:'.length));

export const estimateBatch = (context: Context, { caip2, data }: Batch) =>
  context.estimateGas(caip2, { to: forwarderFactory, data });

type Wanted = SweptToken & { readonly treasury: string };

/** What forwarders of the treasury hold of the token: own money and strays, the oldest payments first. */
const itemsFor = async (context: Context, scope: Scope, wanted: Wanted): Promise<SweepItem[]> => {
  const own = (await unsweptPayments(context.listDb, scope, wanted, consideredPayments)).map(ownItem);
  const strays = (await readStrays(context, scope)).filter(
    ({ network, currency, row, refusal }) =>
      network === wanted.network &&
      currency === wanted.currency &&
      row.treasury === wanted.treasury &&
      refusal === null,
  );
  return [...own, ...strays].sort((a, b) => (a.row.id < b.row.id ? -1 : 1)).slice(0, consideredPayments);
};

const heldPayments = async (context: Context, scope: Scope, { network, currency, treasury }: Wanted) =>
  (await readHoldings(context.listDb, scope))
    .filter(each => each.network === network && each.currency === currency && each.treasury === treasury)
    .reduce((sum, { payments }) => sum + payments, 0);

const sumOf = (items: readonly SweepItem[]): string => {
  const decimals = items.reduce((most, item) => Math.max(most, item.decimals), 0);
  const units = items.reduce((sum, item) => sum + item.amount * 10n ** BigInt(decimals - item.decimals), 0n);
  return formatAmount(units, decimals);
};

/** The transactions that sweep a token's funds to one treasury. What fails now comes last. Nothing is signed here. */
export const planSweep = async (context: Context, scope: Scope, request: Wanted): Promise<SweepPlan> => {
  const wanted = { ...sweptToken(context, scope, request), treasury: request.treasury };
  const items = await itemsFor(context, scope, wanted);
  if (items.length === 0) throw new FlorinError('conflict', 'There are no funds left to sweep to this treasury.');
  const considered = batchesOf(context, scope, items);
  // A network may have had another chain when its older payments were created.
  for (const caip2 of new Set(considered.map(batch => batch.caip2))) {
    await requireFactory(context.networks, { environment: scope.environment, slug: wanted.network, caip2 });
    const refusal = await contractRefusal(context, scope, { ...wanted, caip2 });
    if (refusal !== null) throw new FlorinError('conflict', refusal.reason);
  }
  const failing = await failingItems(context, considered);
  const ordered = items.toSorted((a, b) => Number(failing.has(a)) - Number(failing.has(b)));
  const batches = batchesOf(context, scope, ordered).slice(0, transactionsInPlan);
  const estimates = await Promise.all(batches.map(batch => estimateBatch(context, batch)));
  const planned = batches.flatMap(batch => batch.items);
  const strays = items.filter(item => item.caip2 !== item.row.caip2 || item.contract !== item.row.contract).length;
  const held = (await heldPayments(context, scope, wanted)) + strays;
  return {
    transactions: batches.map((batch, at) => ({
      chainId: chainIdOf(batch.caip2),
      to: forwarderFactory,
      data: batch.data,
      value: '0x0',
      payments: batch.items.map(({ row }) => row.id),
      gas: estimates[at]?.units.toString() ?? null,
    })),
    amount: sumOf(planned),
    currency: wanted.currency,
    remaining: Math.max(0, held - planned.length),
    failing: planned.filter(item => failing.has(item)).map(({ row }) => row.id),
  };
};
