import type { Environment } from '../../core/environment.ts';
import { formatAmount } from '../../core/money.ts';
import type { SecurityNotice } from '../../core/outbox.ts';
import type { EventType, PaymentEventType, PaymentException, PaymentStatus } from '../../core/payment/states.ts';
import { renderSecurityEvent } from '../audit/announce.ts';
import type { EnvironmentSettings } from '../context.ts';
import { type PaymentView, paymentObject, printPayment, renderEvent } from '../payments/paymentObject.ts';

type Sample = { status: PaymentStatus; exception: PaymentException | null; received: bigint };

const full = 25_000_000n;
const none = 0n;
const sample = (status: PaymentStatus, received = none, exception: PaymentException | null = null): Sample => ({
  status,
  exception,
  received,
});

/** The payment's state in an event of each kind. */
const samples: Record<PaymentEventType, Sample> = {
  'payment.created': sample('pending'),
  'payment.detected': sample('pending', full / 2n, 'underpaid'),
  'payment.underpaid': sample('pending', full / 2n, 'underpaid'),
  'payment.confirming': sample('confirming', full),
  'payment.completed': sample('completed', full),
  'payment.overpaid': sample('completed', full * 2n, 'overpaid'),
  'payment.expired': sample('expired'),
  'payment.late': sample('expired', full, 'late'),
  'payment.canceled': sample('canceled'),
  'payment.reverted': sample('pending'),
  'payment.reversed': sample('reversed', none, 'reorged'),
  'payment.stray': sample('pending'),
};

const sampleId = `pay_${'0'.repeat(26)}`;

const sampleView = ({ status, exception, received }: Sample, environment: Environment, atMs: number): PaymentView => ({
  environment,
  id: sampleId,
  status,
  exception,
  amount: full,
  amountReceived: received,
  amountConfirmed: status === 'completed' ? received : none,
  decimals: 6,
  currency: 'USDC',
  network: 'base',
  caip2: 'eip155:8453',
  contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  address: '0x0000000000000000000000000000000000000001',
  confirmations: { current: 0, required: null, rule: 'finalized' },
  transactions: [],
  strays: [],
  description: `A test event: no payment of ${formatAmount(full, 6)} USDC exists`,
  metadata: '{"test":true}',
  callbackUrl: null,
  redirectUrl: null,
  externalId: null,
  createdAtMs: atMs,
  expiresAtMs: atMs + 3_600_000,
  completedAtMs: status === 'completed' || status === 'reversed' ? atMs : null,
  canceledAtMs: status === 'canceled' ? atMs : null,
});

const sampleNotice = (atMs: number): SecurityNotice => ({
  action: 'wallet.change_requested',
  actor: { kind: 'person', id: `usr_${'0'.repeat(26)}` },
  subject: 'base',
  at: new Date(atMs).toISOString(),
});

/** An event of this kind with sample data. */
export const renderTestEvent = (
  settings: Pick<EnvironmentSettings, 'checkoutUrl'>,
  event: { id: string; type: EventType; atMs: number; environment: Environment; endpointId: string | null },
): string => {
  const { id, type, atMs, environment } = event;
  if (type === 'account.security') return renderSecurityEvent({ id, atMs, environment, notice: sampleNotice(atMs) });
  const data =
    type === 'webhook.test'
      ? JSON.stringify({ endpointId: event.endpointId, test: true })
      : printPayment(paymentObject(sampleView(samples[type], environment, atMs), settings));
  return renderEvent({ id, type, atMs, environment, sequence: 1, data, previous: { status: null, exception: null } });
};
