import type { Environment } from './environment.ts';
import type { Confirmations } from './payment/finality.ts';
import type { PaymentException, PaymentStatus } from './payment/states.ts';

export type Brand = {
  /** #rrggbb */
  readonly accent: string | null;
  /** File name, served next to the page: logo-<hash>.<kind> */
  readonly logo: string | null;
};

/** Everything a payer may see of a payment. The page is rendered from this alone. Amounts are decimal strings. */
export type CheckoutView = {
  readonly id: string;
  readonly environment: Environment;
  /** Changes whenever the page may have changed. */
  readonly version: string;
  readonly status: PaymentStatus;
  readonly exception: PaymentException | null;
  readonly merchantName: string;
  /** Absent if the merchant has set no branding. */
  readonly brand?: Brand;
  /** Where a payer can ask about stuck money: an e-mail address or an https URL. */
  readonly supportContact: string | null;
  readonly description: string | null;
  readonly amount: string;
  readonly amountReceived: string;
  /** "0" if nothing is left to send. */
  readonly amountRemaining: string;
  /** The part of `amountReceived` that arrived late. Null if there are more transfers than were loaded. */
  readonly amountLate: string | null;
  /** Whether the payer may send now. If not, the page offers no way to pay. */
  readonly isPayable: boolean;
  readonly currency: string;
  readonly decimals: number;
  readonly network: {
    readonly slug: string;
    readonly name: string;
    readonly chainId: number;
    /** Florin is behind on this network or does not read it, so a transfer may take longer to appear. */
    readonly isSlow: boolean;
    readonly blockTimeSeconds: number;
    readonly nativeCurrency: { readonly symbol: string; readonly decimals: number };
    /** For wallets that do not know the network. Null if there is no URL to give to the public. */
    readonly walletRpcUrl: string | null;
    readonly explorerUrl: string | null;
  };
  /** Null for the native coin. */
  readonly contract: string | null;
  readonly address: string;
  /** Requests `amountRemaining`. */
  readonly paymentUri: string;
  /** `amountRemaining` in base units, for wallets. */
  readonly baseUnits: string;
  readonly confirmations: Confirmations;
  readonly transactions: readonly {
    readonly hash: string | null;
    readonly amount: string;
    readonly status: 'confirming' | 'confirmed';
    readonly explorerUrl: string | null;
  }[];
  /**
   * Funds in another token or on another network reached the address. They do not count; only the merchant can return
   * them.
   */
  readonly hasStrays: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly completedAtMs: number | null;
  /** https only. */
  readonly redirectUrl: string | null;
  /** Allows this page to simulate this payment. Only for sandbox payments on the local chain. */
  readonly simulateToken: string | null;
};

/** What the page shows. This has more cases than the payment's status. */
export type CheckoutState =
  | 'waiting'
  | 'underpaid'
  /** The payer must not send: Florin no longer watches the payment's network. */
  | 'notPayable'
  /** The time is over, but the network has not been read far enough for the payment to expire. */
  | 'timeUp'
  | 'confirming'
  | 'completed'
  | 'overpaid'
  | 'expired'
  /** Funds arrived too late, or less than the amount. The payment will not complete by itself. */
  | 'expiredWithFunds'
  | 'canceled'
  | 'reversed';

const isZero = (decimal: string): boolean => /^0(\.0*)?$/.test(decimal);

export const hasFunds = ({ amountReceived }: Pick<CheckoutView, 'amountReceived'>): boolean => !isZero(amountReceived);

/** The full amount arrived late and the payment has not expired yet. The payer must not send it again. */
const isLateInFull = (view: Pick<CheckoutView, 'amountReceived' | 'amountRemaining'>): boolean =>
  hasFunds(view) && isZero(view.amountRemaining);

type StateInput = Pick<
  CheckoutView,
  'status' | 'exception' | 'amountReceived' | 'amountRemaining' | 'isPayable' | 'expiresAtMs'
>;

export const checkoutState = (view: StateInput, nowMs: number): CheckoutState => {
  switch (view.status) {
    case 'pending':
      if (isLateInFull(view)) return 'expiredWithFunds';
      if (nowMs >= view.expiresAtMs) return 'timeUp';
      if (!view.isPayable) return 'notPayable';
      return hasFunds(view) ? 'underpaid' : 'waiting';
    case 'confirming':
    case 'canceled':
    case 'reversed':
      return view.status;
    case 'completed':
      return view.exception === 'overpaid' ? 'overpaid' : 'completed';
    case 'expired':
      return hasFunds(view) || view.exception === 'late' ? 'expiredWithFunds' : 'expired';
  }
};
