import { createHash } from 'node:crypto';
import { evmPaymentUri } from '../chains/evm/paymentUri.ts';
import type { CheckoutView } from '../core/checkoutView.ts';
import { formatAmount } from '../core/money.ts';
import { tally } from '../core/payment/tally.ts';
import type { Network } from '../core/registry/networks.ts';
import type { CheckoutRow } from '../storage/checkouts.ts';
import type { PaymentRow } from '../storage/payments.ts';
import type { Context } from './context.ts';
import { assertAuthentic } from './paymentAddress.ts';
import { type Funds, factsOf, fundsOf } from './paymentFacts.ts';
import { viewOfRow } from './paymentObject.ts';

/**
 * Nothing is left to send once the merchant or the tolerance is content with less, either. A sum that was accepted is all
 * that is asked for, also after a reorg took it back; but never more than was asked for at first.
 */
const remainingOf = ({ status, amount, amountAccepted, amountReceived }: PaymentRow): bigint => {
  if (status === 'confirming' || status === 'completed') return 0n;
  const [asked, accepted] = [BigInt(amount), BigInt(amountAccepted ?? amount)];
  const missing = (accepted < asked ? accepted : asked) - BigInt(amountReceived);
  return missing > 0n ? missing : 0n;
};

/** By the transfers that are shown, which are all unless somebody sent dust. */
const lateOf = (row: PaymentRow, funds: Funds): bigint | null => {
  const { received, late } = tally(factsOf(row, funds, null, 0));
  return received === BigInt(row.amountReceived) ? late : null;
};

/** What stands behind the payment's network now, if that is still the chain on which it is to be paid. */
export const networkOf = (
  context: Pick<Context, 'networks'>,
  { environment, network, caip2 }: Pick<PaymentRow, 'environment' | 'network' | 'caip2'>,
): Network | null => {
  const configured = context.networks.configured(environment, network);
  return configured?.caip2 === caip2 ? configured : null;
};

/** Of a chain that has been taken out of the configuration only what its name says is known. */
const networkView = (context: Context, row: CheckoutRow, isSlow: boolean): CheckoutView['network'] => {
  const network = networkOf(context, row);
  const native = network?.currencies.find(({ contractAddress }) => contractAddress === null);
  // Its node takes orders from anybody, so that it is told to browsers on the same machine only.
  const isOwn = network?.backing === 'devchain' && context.environments[row.environment].allowLoopback;
  return {
    slug: row.network,
    name: network?.name ?? row.network,
    chainId: Number(row.caip2.slice('eip155:'.length)),
    isSlow: isSlow || network === null,
    blockTimeSeconds: network?.blockTimeSeconds ?? 12,
    nativeCurrency: { symbol: native?.symbol ?? 'ETH', decimals: native?.decimals ?? 18 },
    walletRpcUrl: (isOwn && network?.rpcUrls[0]) || null,
    explorerUrl: context.networks.explorerOf(row.caip2),
  };
};

/** Sandbox payments on the chain of this process: nobody's money, and a way to send it. */
export const canSimulate = (
  { localChain }: Pick<Context, 'localChain'>,
  { environment, caip2 }: Pick<PaymentRow, 'environment' | 'caip2'>,
): boolean => environment === 'sandbox' && localChain !== null && caip2 === localChain.caip2;

/** http: is allowed for loopback where merchants test; a payer is never sent there. */
const secureUrl = (url: string | null): string | null =>
  url !== null && URL.parse(url)?.protocol === 'https:' ? url : null;

/**
 * Of what the page shows, not of the row: a chain moves with every block, and a page that would look the same is not sent
 * again. Depth is shown while it decides something.
 */
const versionOf = (view: Omit<CheckoutView, 'version'>, isOver: boolean): string => {
  const confirmations = view.status === 'confirming' ? view.confirmations : null;
  const shown = JSON.stringify({ ...view, confirmations, isOver });
  return createHash('sha256').update(shown).digest('base64url').slice(0, 22);
};

/** Absent, not null: the version of a page that has no brand must stay what it was before there were any. */
const brandOf = ({ brandAccent: accent, brandLogoName: logo }: CheckoutRow): Pick<CheckoutView, 'brand'> =>
  accent === null && logo === null ? {} : { brand: { accent, logo } };

/** What a page depends on beside the rows it is made from. */
export type Circumstances = {
  /** The network's reader has fallen behind or stands still. */
  readonly isSlow: boolean;
  /** The time has run out, and the payment does not say so yet: that takes the network to be read up to then. */
  readonly isOver: boolean;
};

/** The page of a stored row, refused if the row was tampered with: its address is derived again here, each time. */
export const checkoutViewOf = (context: Context, row: CheckoutRow, { isSlow, isOver }: Circumstances): CheckoutView => {
  assertAuthentic(context, row);
  const funds = fundsOf(row);
  const payment = viewOfRow(context, row, funds);
  const { id, environment, status, exception, description, amount, currency, decimals, contract, address } = payment;
  const remaining = remainingOf(row);
  const late = lateOf(row, funds);
  const network = networkView(context, row, isSlow);
  const view: Omit<CheckoutView, 'version'> = {
    id,
    environment,
    status,
    exception,
    merchantName: row.merchantName,
    ...brandOf(row),
    supportContact: row.supportContact,
    description,
    amount: formatAmount(amount, decimals),
    amountReceived: formatAmount(payment.amountReceived, decimals),
    amountRemaining: remaining > 0n ? formatAmount(remaining, decimals) : '0',
    amountLate: late === null ? null : formatAmount(late, decimals),
    isPayable: status === 'pending' && remaining > 0n && networkOf(context, row) !== null,
    currency,
    decimals,
    network,
    contract,
    address,
    paymentUri: evmPaymentUri({ chainId: network.chainId, contract, address, amount: remaining }),
    baseUnits: remaining.toString(),
    confirmations: payment.confirmations,
    transactions: payment.transactions.map(({ hash, amount: sum, status: standing, explorerUrl }) => ({
      hash,
      amount: sum,
      status: standing,
      explorerUrl,
    })),
    hasStrays: payment.strays.length > 0,
    createdAtMs: payment.createdAtMs,
    expiresAtMs: payment.expiresAtMs,
    completedAtMs: payment.completedAtMs,
    redirectUrl: secureUrl(payment.redirectUrl),
    simulateToken: canSimulate(context, row) ? context.vault.simulateToken(id) : null,
  };
  return { ...view, version: versionOf(view, isOver) };
};
