import type { PaymentObject } from '../../../src/core/api/moneyApi.ts';
import type { PaymentException, PaymentStatus } from '../../../src/core/payment/states.ts';

/** The fields of the API's payment object that the dashboard uses. */
export type ShownPayment = {
  id: string;
  status: PaymentStatus;
  exception: PaymentException | null;
  amount: string;
  amountReceived: string;
  amountConfirmed: string;
  currency: string;
  network: string;
  address: string;
  checkoutUrl: string;
  description: string | null;
  externalId: string | null;
  callbackUrl: string | null;
  redirectUrl: string | null;
  metadata: Record<string, unknown>;
  /** `required` is null if the network itself says which blocks are final. */
  confirmations: { current: number; required: number | null };
  transactions: {
    hash: string | null;
    from: string | null;
    amount: string;
    blockNumber: number;
    confirmations: number;
    status: string;
    explorerUrl: string | null;
  }[];
  strays: { caip2: string; contract: string | null; hash: string | null; amount: string }[];
  createdAt: string;
  expiresAt: string;
  completedAt: string | null;
  canceledAt: string | null;
};

export const shown = (payment: PaymentObject): ShownPayment => payment as unknown as ShownPayment;

/** An open payment may change at any moment, so it is read often. */
export const isOpen = ({ status }: ShownPayment): boolean => status === 'pending' || status === 'confirming';

export const openMs = 2_000;
export const restMs = 15_000;
