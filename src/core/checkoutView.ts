import type { Environment } from './environment.ts';
import type { Confirmations } from './payment/finality.ts';
import type { PaymentException, PaymentStatus } from './payment/states.ts';

export type Brand = {
  /** #rrggbb */
  readonly accent: string | null;
  /** Name of a file beside the page's own: logo-<hash>.<kind> */
  readonly logo: string | null;
};

/** What a payer may see of a payment, and all that a page is made from. Amounts are exact decimals in a string. */
export type CheckoutView = {
  readonly id: string;
  readonly environment: Environment;
  /** Changes whenever anything of the page may have changed. */
  readonly version: string;
  readonly status: PaymentStatus;
  readonly exception: PaymentException | null;
  readonly merchantName: string;
  /** How the merchant's pages look; absent where nothing was chosen. */
  readonly brand?: Brand;
  /** Where a payer may ask about money that is stuck: an e-mail address or the https address of a page. */
  readonly supportContact: string | null;
  readonly description: string | null;
  readonly amount: string;
  readonly amountReceived: string;
  /** What is still to be sent; "0" where nothing is. */
  readonly amountRemaining: string;
  /** What of `amountReceived` came after the payment's time; null where more transfers came than are told apart. */
  readonly amountLate: string | null;
  /** Something is to be sent, and it would be seen. Where not, no way to pay is offered, whatever the time. */
  readonly isPayable: boolean;
  readonly currency: string;
  readonly decimals: number;
  readonly network: {
    readonly slug: string;
    readonly name: string;
    readonly chainId: number;
    /** Its reader has fallen behind or stands still: what was sent may take longer to show. */
    readonly isSlow: boolean;
    readonly blockTimeSeconds: number;
    readonly nativeCurrency: { readonly symbol: string; readonly decimals: number };
    /** For a wallet that does not know the network; null where there is none to give to strangers. */
    readonly walletRpcUrl: string | null;
    readonly explorerUrl: string | null;
  };
  /** The token's contract; null for the network's own coin. */
  readonly contract: string | null;
  readonly address: string;
  /** For `amountRemaining`. */
  readonly paymentUri: string;
  /** The same in base units, for a wallet. */
  readonly baseUnits: string;
  readonly confirmations: Confirmations;
  readonly transactions: readonly {
    readonly hash: string | null;
    readonly amount: string;
    readonly status: 'confirming' | 'confirmed';
    readonly explorerUrl: string | null;
  }[];
  /** Money of another token or network reached the address: it does not count, and only the merchant can give it back. */
  readonly hasStrays: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly completedAtMs: number | null;
  /** https only. */
  readonly redirectUrl: string | null;
  /** Lets this page, and no other, pretend to pay: sandbox payments on the local chain only. */
  readonly simulateToken: string | null;
};

/** What the page is about, which is more than where the payment stands. */
export type CheckoutState =
  | 'waiting'
  | 'underpaid'
  /** Nobody may send: what it would be paid on is not looked after here any more. */
  | 'notPayable'
  /** Nobody may send any more, and the network has not been read so far that the payment could expire. */
  | 'timeUp'
  | 'confirming'
  | 'completed'
  | 'overpaid'
  | 'expired'
  /** Money came, but too late or too little of it, and nobody will complete it by itself. */
  | 'expiredWithFunds'
  | 'canceled'
  | 'reversed';

const isZero = (decimal: string): boolean => /^0(\.0*)?$/.test(decimal);

export const hasFunds = ({ amountReceived }: Pick<CheckoutView, 'amountReceived'>): boolean => !isZero(amountReceived);

/** All has come, but not in time, and the clock has not got there yet: nobody must send it once more. */
const isLateInFull = (view: Pick<CheckoutView, 'amountReceived' | 'amountRemaining'>): boolean =>
  hasFunds(view) && isZero(view.amountRemaining);

type Standing = Pick<
  CheckoutView,
  'status' | 'exception' | 'amountReceived' | 'amountRemaining' | 'isPayable' | 'expiresAtMs'
>;

export const checkoutState = (view: Standing, nowMs: number): CheckoutState => {
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
