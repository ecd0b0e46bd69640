import { createPaymentRoute, type NewPayment, type UnsealedPayment } from '../../storage/payments/insertPayments.ts';
import type { Vault } from '../../vault/vault.ts';
import { sealAnswer } from '../idempotency.ts';
import { sealCallback, sealEvent } from '../webhooks/eventSeal.ts';
import { sealPayment } from './paymentSeal.ts';

/** The state that a payment is written in. */
export const begun = {
  status: 'pending',
  exception: null,
  amountReceived: '0',
  amountConfirmed: '0',
  amountAccepted: null,
  acceptedAt: null,
  completedAt: null,
  canceledAt: null,
  sequence: 1,
  detected: false,
  strayed: false,
  timeEndedAt: null,
  coveredNumber: null,
  lostTransfers: null,
} as const;

const answerSeal = (vault: Vault, payment: UnsealedPayment): Buffer | null => {
  const { accountId, environment, id: resourceId, idempotency } = payment;
  const place = { accountId, environment, route: createPaymentRoute, resourceId };
  return idempotency && sealAnswer(vault, { ...place, ...idempotency, status: 200, sealedResponse: null });
};

const eventSeal = (vault: Vault, payment: UnsealedPayment, createdAt: Date): Buffer =>
  sealEvent(vault, {
    accountId: payment.accountId,
    environment: payment.environment,
    id: payment.eventId,
    paymentId: payment.id,
    sequence: begun.sequence,
    type: 'payment.created',
    status: begun.status,
    exception: null,
    previousStatus: null,
    previousException: null,
    body: payment.eventBody,
    createdAt,
  });

export type SealedPayment = NewPayment & {
  /** What made the seals. */
  readonly maker: object;
};

/** Makes the seals of all rows that a new payment is written to. */
export const sealNewPayment = (vault: Vault, payment: UnsealedPayment): SealedPayment => {
  const maker = vault.maker();
  const { accountId, environment, eventId, callbackUrl: url } = payment;
  const createdAt = new Date(payment.createdAtMs);
  const mac = vault.paymentMac({ ...payment, index: payment.derivationIndex });
  const row = {
    ...payment,
    ...begun,
    mac,
    amount: payment.amount.toString(),
    derivationIndex: payment.derivationIndex.toString(),
    dustFloor: payment.dustFloor.toString(),
    createdAt,
    expiresAt: new Date(payment.expiresAtMs),
  };
  const seals = {
    payment: sealPayment(vault, row),
    event: eventSeal(vault, payment, createdAt),
    callback: url === null ? null : sealCallback(vault, { accountId, environment, eventId, url }),
    answer: answerSeal(vault, payment),
  };
  return { ...payment, mac, seals, maker };
};
