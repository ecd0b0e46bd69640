import { evmPaymentUri } from '../../chains/evm/paymentUri.ts';
import type { Stray, Transaction } from '../../core/api/payment.ts';
import { formatAmount } from '../../core/money.ts';
import {
  type Confirmations,
  confirmationsOf,
  confirmationsSince,
  isFinal,
  ruleFor,
} from '../../core/payment/finality.ts';
import type { PaymentException, PaymentStatus } from '../../core/payment/states.ts';
import { type StoredTransfer, shownTransfers } from '../../storage/chain/transfers.ts';
import type { PaymentRow, StoredTier } from '../../storage/payments/payments.ts';
import type { Context, EnvironmentSettings } from '../context.ts';
import { type Funds, noFunds } from './paymentFacts.ts';
import { readTiers } from './readTiers.ts';

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
  transactions: readonly Transaction[];
  strays: readonly Stray[];
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

const time = (ms: number | null): string => (ms === null ? 'null' : `"${new Date(ms).toISOString()}"`);
const text = (value: string | null): string => (value === null ? 'null' : JSON.stringify(value));

/**
 * Built by hand because metadata must be returned as given: parsing and serialising it would change key order, digits
 * and escapes.
 */
export const renderPayment = (view: PaymentView, settings: Pick<EnvironmentSettings, 'checkoutUrl'>): string => {
  const uri = evmPaymentUri({
    chainId: Number(view.caip2.slice('eip155:'.length)),
    contract: view.contract,
    address: view.address,
    amount: view.amount,
  });
  return `{"id":"${view.id}","status":"${view.status}","amount":"${formatAmount(view.amount, view.decimals)}","currency":"${
    view.currency
  }","network":"${view.network}","address":"${view.address}","checkoutUrl":${text(
    `${settings.checkoutUrl}/${view.id}`,
  )},"expiresAt":${time(view.expiresAtMs)},"createdAt":${time(view.createdAtMs)},"metadata":${
    view.metadata
  },"environment":"${view.environment}","description":${text(view.description)},"callbackUrl":${text(
    view.callbackUrl,
  )},"redirectUrl":${text(view.redirectUrl)},"externalId":${text(view.externalId)},"amountReceived":"${formatAmount(
    view.amountReceived,
    view.decimals,
  )}","amountConfirmed":"${formatAmount(view.amountConfirmed, view.decimals)}","exception":${text(
    view.exception,
  )},"confirmations":${JSON.stringify(view.confirmations)},"transactions":${JSON.stringify(
    view.transactions,
  )},"strays":${JSON.stringify(view.strays)},"paymentUri":"${uri}","completedAt":${time(
    view.completedAtMs,
  )},"canceledAt":${time(view.canceledAtMs)}}`;
};

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
  `{"id":"${event.id}","type":"${event.type}","timestamp":${time(event.atMs)},"apiVersion":"v1","environment":"${
    event.environment
  }","sequence":${event.sequence},"data":${event.data},"previous":${JSON.stringify(event.previous)}}`;
