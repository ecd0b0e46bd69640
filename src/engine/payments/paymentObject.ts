import { evmPaymentUri } from '../../chains/evm/paymentUri.ts';
import type { Payment, Stray, Transaction } from '../../core/api/payment.ts';
import { formatAmount } from '../../core/money.ts';
import {
  type Confirmations,
  confirmationsOf,
  confirmationsSince,
  isFinal,
  ruleFor,
} from '../../core/payment/finality.ts';
import type { PaymentException, PaymentStatus } from '../../core/payment/states.ts';
import type { StoredTransfer } from '../../storage/chain/transferSeals.ts';
import { shownTransfers } from '../../storage/chain/transfers.ts';
import type { PaymentRow, StoredTier } from '../../storage/payments/payments.ts';
import type { Context, EnvironmentSettings } from '../context.ts';
import { type Funds, noFunds } from './paymentFacts.ts';
import { readTiers } from './readTiers.ts';

/** JSON as its source text. Parsing and printing it again would change key order, digits and escapes. */
export type RawJson = { readonly source: string };

/** The payment of the API, with the metadata as it was given. */
export type PaymentObject = Omit<Payment, 'metadata'> & { readonly metadata: RawJson };

/** The source of a payment object: a stored row, or one that is about to be stored. */
export type PaymentView = Pick<
  PaymentRow,
  | 'environment'
  | 'id'
  | 'decimals'
  | 'currency'
  | 'network'
  | 'caip2'
  | 'contract'
  | 'address'
  | 'description'
  | 'metadata'
  | 'callbackUrl'
  | 'redirectUrl'
  | 'externalId'
> & {
  status: PaymentStatus;
  exception: PaymentException | null;
  amount: bigint;
  amountReceived: bigint;
  amountConfirmed: bigint;
  confirmations: Confirmations;
  transactions: Transaction[];
  strays: Stray[];
  createdAtMs: number;
  expiresAtMs: number;
  completedAtMs: number | null;
  canceledAtMs: number | null;
};

/** The confirmations of a payment without funds. */
export const noConfirmations = (amount: bigint, tiers: readonly StoredTier[]): Confirmations =>
  confirmationsSince(null, ruleFor({ amount, tiers: readTiers(tiers) }, 0n), noFunds.heights);

type FundsView = Pick<PaymentView, 'confirmations' | 'transactions' | 'strays'>;
type Explorer = Pick<Context, 'networks'>;

const strayObject = (context: Explorer, stray: StoredTransfer): Stray => {
  const { caip2, contract, txHash: hash, amount } = stray;
  const token = context.networks.tokenOf(caip2, contract);
  // The decimals of an unlisted token are unknown. A wrong decimal point is worse than none.
  return { caip2, contract, hash, amount: token === null ? amount : formatAmount(BigInt(amount), token.decimals) };
};

const largestFirst = (a: StoredTransfer, b: StoredTransfer): number => {
  const [first, second] = [BigInt(a.amount), BigInt(b.amount)];
  if (first !== second) return first > second ? -1 : 1;
  return a.key < b.key ? -1 : 1;
};

/**
 * The same transfers that the database returns to readers, so that an event of a payment with many tiny transfers is
 * not larger.
 */
const shownOf = (transfers: readonly StoredTransfer[]): readonly StoredTransfer[] => {
  if (transfers.length <= shownTransfers) return transfers;
  const largest = new Set(transfers.toSorted(largestFirst).slice(0, shownTransfers));
  return transfers.filter(transfer => largest.has(transfer));
};

/** Sums and the covering block come from the row, because not all transfers are loaded. */
const fundsView = (context: Explorer, row: PaymentRow, { transfers, heights }: Funds): FundsView => {
  const rule = ruleFor({ amount: BigInt(row.amount), tiers: readTiers(row.tiers) }, BigInt(row.amountReceived));
  const covering = row.coveredNumber === null ? null : { number: row.coveredNumber };
  const explorerUrl = context.networks.explorerOf(row.caip2);
  const canonical = transfers.filter(transfer => transfer.canonical);
  const transactionObject = (transfer: StoredTransfer): Transaction => {
    const { txHash: hash, sender: from, blockNumber, verified, settled } = transfer;
    const block = { number: blockNumber };
    return {
      hash,
      from,
      amount: formatAmount(BigInt(transfer.amount), row.decimals),
      blockNumber,
      confirmations: confirmationsOf(block, heights),
      status: settled || (verified && isFinal(block, rule, heights)) ? 'confirmed' : 'confirming',
      explorerUrl: explorerUrl === null || hash === null ? null : `${explorerUrl}/tx/${hash}`,
    };
  };
  return {
    confirmations: confirmationsSince(covering, rule, heights),
    transactions: shownOf(canonical.filter(({ stray }) => !stray)).map(transactionObject),
    strays: shownOf(canonical.filter(({ stray }) => stray)).map(stray => strayObject(context, stray)),
  };
};

export const viewOfRow = (context: Explorer, row: PaymentRow, funds: Funds): PaymentView => ({
  ...row,
  ...fundsView(context, row, funds),
  amount: BigInt(row.amount),
  amountReceived: BigInt(row.amountReceived),
  amountConfirmed: BigInt(row.amountConfirmed),
  createdAtMs: row.createdAt.getTime(),
  expiresAtMs: row.expiresAt.getTime(),
  completedAtMs: row.completedAt?.getTime() ?? null,
  canceledAtMs: row.canceledAt?.getTime() ?? null,
});

const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

export const paymentObject = (
  view: PaymentView,
  settings: Pick<EnvironmentSettings, 'checkoutUrl'>,
): PaymentObject => ({
  id: view.id,
  status: view.status,
  amount: formatAmount(view.amount, view.decimals),
  currency: view.currency,
  network: view.network,
  address: view.address,
  checkoutUrl: `${settings.checkoutUrl}/${view.id}`,
  expiresAt: new Date(view.expiresAtMs).toISOString(),
  createdAt: new Date(view.createdAtMs).toISOString(),
  metadata: { source: view.metadata },
  environment: view.environment,
  description: view.description,
  callbackUrl: view.callbackUrl,
  redirectUrl: view.redirectUrl,
  externalId: view.externalId,
  amountReceived: formatAmount(view.amountReceived, view.decimals),
  amountConfirmed: formatAmount(view.amountConfirmed, view.decimals),
  exception: view.exception,
  confirmations: view.confirmations,
  transactions: view.transactions,
  strays: view.strays,
  paymentUri: evmPaymentUri({
    chainId: Number(view.caip2.slice('eip155:'.length)),
    contract: view.contract,
    address: view.address,
    amount: view.amount,
  }),
  completedAt: time(view.completedAtMs),
  canceledAt: time(view.canceledAtMs),
});

/** The payment with its metadata as a value, for callers that print it as a part of something else. */
export const withMetadata = (payment: PaymentObject): Payment => ({
  ...payment,
  metadata: JSON.parse(payment.metadata.source) as Payment['metadata'],
});

const text = (value: string | null): string => (value === null ? 'null' : JSON.stringify(value));
/** For text that needs no escapes. */
const plain = (value: string | null): string => (value === null ? 'null' : `"${value}"`);

/** A template, because payments are printed on every hot path. */
export const printPayment = (payment: PaymentObject): string =>
  `{"id":"${payment.id}","status":"${payment.status}","amount":"${payment.amount}","currency":"${
    payment.currency
  }","network":"${payment.network}","address":"${payment.address}","checkoutUrl":${text(
    payment.checkoutUrl,
  )},"expiresAt":"${payment.expiresAt}","createdAt":"${payment.createdAt}","metadata":${
    payment.metadata.source
  },"environment":"${payment.environment}","description":${text(payment.description)},"callbackUrl":${text(
    payment.callbackUrl,
  )},"redirectUrl":${text(payment.redirectUrl)},"externalId":${text(payment.externalId)},"amountReceived":"${
    payment.amountReceived
  }","amountConfirmed":"${payment.amountConfirmed}","exception":${plain(
    payment.exception,
  )},"confirmations":${JSON.stringify(payment.confirmations)},"transactions":${JSON.stringify(
    payment.transactions,
  )},"strays":${JSON.stringify(payment.strays)},"paymentUri":"${payment.paymentUri}","completedAt":${plain(
    payment.completedAt,
  )},"canceledAt":${plain(payment.canceledAt)}}`;

/** The bytes that receivers get and verify. Frozen when the event is written. */
export const renderEvent = (event: {
  id: string;
  type: string;
  atMs: number;
  environment: string;
  sequence: number;
  data: string;
  previous: { status: PaymentStatus | null; exception: PaymentException | null };
}): string =>
  `{"id":"${event.id}","type":"${event.type}","timestamp":"${new Date(event.atMs).toISOString()}","apiVersion":"v1","environment":"${
    event.environment
  }","sequence":${event.sequence},"data":${event.data},"previous":${JSON.stringify(event.previous)}}`;
