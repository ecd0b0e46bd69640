import { createHash } from 'node:crypto';
import { evmPaymentUri } from '../../chains/evm/paymentUri.ts';
import type { CheckoutView } from '../../core/checkoutView.ts';
import { formatAmount } from '../../core/money.ts';
import { isDust } from '../../core/payment/dust.ts';
import { tally } from '../../core/payment/tally.ts';
import type { Network } from '../../core/registry/networks.ts';
import type { CheckoutRow } from '../../storage/payments/checkouts.ts';
import type { PaymentRow } from '../../storage/payments/payments.ts';
import type { Context } from '../context.ts';
import { assertNoneMissing } from './fundsSeal.ts';
import { assertAuthentic } from './paymentAddress.ts';
import { type Funds, factsOf, fundsOf } from './paymentFacts.ts';
import { viewOfRow } from './paymentObject.ts';

/**
 * Zero also if the merchant or the tolerance accepts less. An accepted sum is the amount to pay, even after a reorg
 * removed it, but never more than the original amount.
 */
const remainingOf = ({ status, amount, amountAccepted }: PaymentRow, received: bigint): bigint => {
  if (status === 'confirming' || status === 'completed') return 0n;
  const [requested, accepted] = [BigInt(amount), BigInt(amountAccepted ?? amount)];
  const missing = (accepted < requested ? accepted : requested) - received;
  return missing > 0n ? missing : 0n;
};

/** What the page says was received. Dust is a stranger's doing, not the payer's, so the page asks for the full amount. */
const receivedOf = ({ amount, amountReceived, dustFloor }: PaymentRow): bigint => {
  const received = BigInt(amountReceived);
  return isDust({ amount: BigInt(amount), dustFloor: BigInt(dustFloor) }, received) ? 0n : received;
};

/** From the loaded transfers. These are all of them unless somebody sent very many. */
const lateOf = (row: PaymentRow, funds: Funds): bigint | null => {
  const { received, late } = tally(factsOf(row, funds, null, 0));
  return received === BigInt(row.amountReceived) ? late : null;
};

/** The payment's network, if it is still backed by the payment's chain. */
export const networkOf = (
  context: Pick<Context, 'networks'>,
  { environment, network, caip2 }: Pick<PaymentRow, 'environment' | 'network' | 'caip2'>,
): Network | null => {
  const configured = context.networks.configured(environment, network);
  return configured?.caip2 === caip2 ? configured : null;
};

/** If the chain is no longer configured, only the network's name is known. */
const networkView = (context: Context, row: CheckoutRow, isSlow: boolean): CheckoutView['network'] => {
  const network = networkOf(context, row);
  const native = network?.currencies.find(({ contractAddress }) => contractAddress === null);
  // The dev chain's node executes commands from anybody, so its URL is only given to browsers on the same machine.
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

/** Only sandbox payments on this process's local chain can be simulated. */
export const canSimulate = (
  { localChain }: Pick<Context, 'localChain'>,
  { environment, caip2 }: Pick<PaymentRow, 'environment' | 'caip2'>,
): boolean => environment === 'sandbox' && localChain !== null && caip2 === localChain.caip2;

/** Merchants may use http: with loopback for tests. Payers are never sent there. */
const secureUrl = (url: string | null): string | null =>
  url !== null && URL.parse(url)?.protocol === 'https:' ? url : null;

/**
 * A hash of what the page shows, not of the row: the chain moves with every block, and an unchanged page is not sent
 * again. Confirmations are included only while they matter.
 */
const versionOf = (view: Omit<CheckoutView, 'version'>, isOver: boolean): string => {
  const confirmations = view.status === 'confirming' ? view.confirmations : null;
  const shown = JSON.stringify({ ...view, confirmations, isOver });
  return createHash('sha256').update(shown).digest('base64url').slice(0, 22);
};

/** Absent rather than null: the version of a page without branding must stay the same as before branding existed. */
const brandOf = ({ brandAccent: accent, brandLogoName: logo }: CheckoutRow): Pick<CheckoutView, 'brand'> =>
  accent === null && logo === null ? {} : { brand: { accent, logo } };

/** What a page depends on besides its rows. */
export type Circumstances = {
  /** Florin is behind on the network or does not read it. */
  readonly isSlow: boolean;
  /** The time is over but the payment is still pending, because the network has not been read up to then. */
  readonly isOver: boolean;
};

/** The page of a stored row. Throws if the row was tampered with: its address is derived again each time. */
export const checkoutViewOf = (context: Context, row: CheckoutRow, { isSlow, isOver }: Circumstances): CheckoutView => {
  assertAuthentic(context, row);
  const funds = fundsOf(context, row);
  assertNoneMissing(context, row, funds.transfers);
  const payment = viewOfRow(context, row, funds);
  const { id, environment, status, exception, description, amount, currency, decimals, contract, address } = payment;
  const received = receivedOf(row);
  const remaining = remainingOf(row, received);
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
    amountReceived: formatAmount(received, decimals),
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
    transactions: (received === 0n ? [] : payment.transactions).map(
      ({ hash, amount: sum, status: transferStatus, explorerUrl }) => ({
        hash,
        amount: sum,
        status: transferStatus,
        explorerUrl,
      }),
    ),
    hasStrays: payment.strays.length > 0,
    createdAtMs: payment.createdAtMs,
    expiresAtMs: payment.expiresAtMs,
    completedAtMs: payment.completedAtMs,
    redirectUrl: secureUrl(payment.redirectUrl),
    simulateToken: canSimulate(context, row) ? context.vault.simulateToken(id) : null,
  };
  return { ...view, version: versionOf(view, isOver) };
};
