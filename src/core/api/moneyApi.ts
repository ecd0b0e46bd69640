import type { WebhookHealth } from '../webhookHealth.ts';
import type { Pagination } from './listPage.ts';
import type { Currency, Network } from './network.ts';
import type { Payment, PaymentRequest } from './payment.ts';
import type { SimulateRequest } from './simulation.ts';

/** Home, payments, settlement. The environment is a query parameter of each, `?environment=sandbox|production`. */

/**
 * As a value of `exception` here: money of another token, or of another network, came to the payment's address. It is no
 * exception of the payment itself, whose state goes by what was asked for.
 */
export const wrongToken = 'wrong_token';

/** Money that came to a payment's address and does not count towards it. */
export type StrayMoney = {
  /** With its unit where the token is known, otherwise in base units. */
  amount: string;
  /** As people call it; the chain's id where Florin does not know it. */
  network: string;
  /** Whether it came on another network than the payment's. */
  isOtherNetwork: boolean;
  /** The token's name, such as "Bridged USDC"; null where there is none besides the symbol. */
  name: string | null;
  /** Null for a coin. */
  contract: string | null;
  txHash: string | null;
  explorerUrl: string | null;
};

export type TimelineEntry = {
  at: string;
  kind: 'created' | 'state' | 'transfer' | 'stray' | 'delivery' | 'action' | 'sweep';
  /** One plain sentence. */
  title: string;
  /** The event, delivery, transaction or person behind the entry. */
  refs: { eventId?: string; deliveryId?: string; txHash?: string; explorerUrl?: string | null; actor?: string };
  detail: Record<string, unknown>;
};

/** Per-day lists are UTC days, oldest first, without gaps. */
export type Home = {
  days: string[];
  /** Confirmed sums of completed payments by token and network, on the day of completion, as decimals. */
  volumes: { currency: string; network: string; total: string; perDay: string[]; count: number }[];
  /** How many payments were created on each day, and how many of those are completed now. */
  conversion: { created: number[]; completed: number[] };
  /**
   * Milliseconds since the time of the block that brought the first funds; null where there is none yet. `detect`: until
   * Florin reported them. `complete`: until the payment was completed. Both are of the same payments: the newest 500 that
   * were created in the range and completed, as far as they can be timed. `sample` is their number.
   */
  speed: {
    detectP50: number | null;
    detectP95: number | null;
    completeP50: number | null;
    completeP95: number | null;
    sample: number;
  };
  /**
   * Deliveries of events of the last seven days. At most the newest 1,000 of each state are counted; callbacks are counted
   * among the account's newest 1,000 deliveries.
   */
  webhooks: {
    endpoints: ({ id: string; url: string; status: string } & WebhookHealth)[];
    callbacks: WebhookHealth;
  };
  networks: (Pick<Network, 'slug' | 'name' | 'status' | 'latestBlock' | 'lagSeconds' | 'checkedAt'> & {
    /** What stands behind the network in this environment. */
    backing: 'mainnet' | 'testnet' | 'devchain';
  })[];
  openNow: number;
  /**
   * Payments that a person should look at: underpaid, late, reversed, and those that are not completed and got another
   * token (`wrong_token`, counted among the newest 1,000 that ever got one).
   */
  attention: { status: string; exception: string; count: number }[];
  /** Addresses that hold more or less than the records say; 100 at most. */
  differences: number;
};

/**
 * The scheduled backups of the deployment. People of a deployment with several accounts see the status alone, because the
 * backups are the operator's. `attention`: the newest attempt failed, or two in a row are missing.
 */
export type Backups = {
  status: 'ok' | 'attention' | 'not_scheduled';
  /** Whether the account is the only one, so that its people may be the operator. */
  isOperators: boolean;
  lastAt: string | null;
  failingSince: string | null;
};

export type GoLive = {
  steps: {
    key: 'wallet' | 'webhook' | 'secondFactor' | 'https' | 'network' | 'liveKey';
    done: boolean;
    title: string;
    help: string;
  }[];
  ready: boolean;
};

export type UnsweptRow = {
  network: string;
  caip2: string;
  chainId: number | null;
  currency: string;
  contractAddress: string | null;
  treasury: string;
  /** Decimal. Final funds only. */
  amount: string;
  payments: number;
  /** How many of these payments received the money as a stray: in a wrong token or on a wrong network. */
  strays: number;
  /** Why it cannot be swept now, or null. */
  refusal: string | null;
  /** Whether `POST /settlement/confirm` lifts the refusal: somebody must say that the contract is theirs there. */
  isConfirmable: boolean;
  /** Estimate for sweeping all of them, in gas units and native coin. Null if no node gives an estimate. */
  gas: { units: string; costNative: string | null; nativeCurrency: string } | null;
};

export type SweepPlan = {
  /** One transaction per batch. Any wallet may sign it: forwarders pay only their treasury. */
  transactions: { chainId: number; to: string; data: string; value: '0x0'; payments: string[]; gas: string | null }[];
  amount: string;
  currency: string;
  /** Payments with funds that are not in this plan. A plan has at most 1,000 payments, the oldest first. */
  remaining: number;
  /** Payments in this plan that would not move now, such as addresses that the token has blocked. They come last. */
  failing: string[];
};
export type SweepRow = {
  id: string;
  network: string;
  currency: string;
  txHash: string | null;
  /** `failed`: other transactions emptied its payments. A transaction that is never mined stays `sent`. */
  status: 'sent' | 'landed' | 'failed';
  payments: number;
  amount: string;
  createdAt: string;
  landedAt: string | null;
  by: string | null;
};

/** Money at the address of a payment that a restore lost. It is never credited. */
export type UnclaimedFunds = {
  /** With its currency. */
  amount: string;
  network: string;
  address: string;
  txHash: string | null;
  at: string;
};

/** What an address holds minus what the records say. */
export type FundsDifference = {
  paymentId: string;
  /** With its currency; negative if funds are missing. */
  amount: string;
  network: string;
  address: string;
  at: string;
};

/** The networks and currencies of this environment. */
export type PayableNetwork = Pick<Network, 'slug' | 'name' | 'caip2' | 'chainId' | 'status' | 'explorerUrl'> & {
  /** The local chain, on which payments can be simulated. */
  isLocal: boolean;
  currencies: Pick<Currency, 'symbol' | 'name' | 'decimals' | 'minAmount'>[];
};

export type MoneyApi = {
  'GET /networks': { answer: { data: PayableNetwork[] } };
  'GET /home': { query: { days?: number }; answer: Home };
  'GET /go-live': { answer: GoLive };
  /** Null if there is nothing to tell: another server has the database, or another operator schedules no backups. */
  'GET /backups': { answer: Backups | null };
  'GET /payments': {
    query: {
      status?: string;
      currency?: string;
      network?: string;
      exception?: string;
      from?: string;
      to?: string;
      /**
       * An id, address, transaction or externalId of any payment, or a part of externalId, description or a value of the
       * metadata among the newest payments.
       */
      search?: string;
      limit?: number;
      offset?: number;
    };
    /** `searched`: only so many of the newest payments were looked at; null where none were left out. */
    answer: {
      data: Payment[];
      pagination: Omit<Pagination, 'hasMore'>;
      searched: number | null;
    };
  };
  /** A CSV file. Same filters as `GET /payments`. */
  'GET /payments.csv': { query: Record<string, string>; answer: never };
  'GET /payments/:id': {
    /**
     * The treasury is where a sweep brings the money; null where the address is in a wallet of one's own already.
     * `isSwept`: some of it has gone there. `allows`: what can be done to the payment now, whoever asks.
     * `isCut`: more happened than the timeline tells. Of each kind it has the newest, of transfers the largest.
     */
    answer: {
      payment: Payment;
      treasury: string | null;
      isSwept: boolean;
      allows: { cancel: boolean; resolve: boolean };
      strays: StrayMoney[];
      timeline: TimelineEntry[];
      isCut: boolean;
    };
  };
  'POST /payments': {
    body: Pick<PaymentRequest, 'amount' | 'currency' | 'network' | 'description'>;
    answer: Payment;
  };
  'POST /payments/:id/cancel': { answer: Payment };
  /** `expectedAmount`: the sum that the person saw. */
  'POST /payments/:id/resolve': { body: { expectedAmount: string }; answer: Payment };
  /** Sandbox payments on the local chain only. */
  'POST /payments/:id/simulate': { body: SimulateRequest; answer: Payment };
  'GET /settlement': {
    answer: {
      unswept: UnsweptRow[];
      sweeps: SweepRow[];
      unclaimed: UnclaimedFunds[];
      differences: FundsDifference[];
    };
  };
  /** For one row of `unswept`, so that the signer has seen the treasury. */
  'POST /settlement/plan': { body: { network: string; currency: string; treasury: string }; answer: SweepPlan };
  /** The person sees the treasury, a contract, on this network as their own. It may have been replaced since. */
  'POST /settlement/confirm': { body: { network: string; treasury: string }; answer: { done: true } };
  'POST /settlement/sweeps': {
    body: { network: string; currency: string; txHash: string; payments: string[] };
    answer: SweepRow;
  };
};
