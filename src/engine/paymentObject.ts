import { evmPaymentUri } from '../chains/evm/paymentUri.ts';
import { formatAmount } from '../core/money.ts';
import { ruleFor } from '../core/payment/finality.ts';
import type { PaymentException, PaymentStatus } from '../core/payment/states.ts';
import type { PaymentRow, StoredTier } from '../storage/payments.ts';
import type { EnvironmentSettings } from './context.ts';
import { readTiers } from './readTiers.ts';

/** What the payment object is made from: a stored row, or one that is about to be stored. */
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
  tiers: readonly StoredTier[];
  createdAtMs: number;
  expiresAtMs: number;
  completedAtMs: number | null;
  canceledAtMs: number | null;
};

export const viewOfRow = (row: PaymentRow): PaymentView => ({
  ...row,
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

/** No chain is watched for funds yet, so nothing has a confirmation. */
const confirmations = (view: PaymentView): string => {
  const rule = ruleFor({ amount: view.amount, tiers: readTiers(view.tiers) }, view.amountReceived);
  return `{"current":0,"required":${rule.kind === 'depth' ? rule.depth : null},"rule":"${rule.kind}"}`;
};

/**
 * Written by hand because metadata must come back as it was given, key order, digits and escapes untouched; parsing and
 * printing it again would not keep them.
 */
export const renderPayment = (view: PaymentView, settings: EnvironmentSettings): string => {
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
  )},"confirmations":${confirmations(view)},"transactions":[],"strays":[],"paymentUri":"${uri}","completedAt":${time(
    view.completedAtMs,
  )},"canceledAt":${time(view.canceledAtMs)}}`;
};

/** The bytes receivers get and verify; frozen when the event is written. */
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
