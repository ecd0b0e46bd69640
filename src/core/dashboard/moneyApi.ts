import type { WebhookHealth } from './webhookHealth.ts';

/** Home, payments, settlement. The environment is a query parameter of each, `?environment=sandbox|production`. */

/** A payment as the API shows it. */
export type PaymentObject = Record<string, unknown> & { id: string; status: string };

export type TimelineEntry = {
  at: string;
  kind: 'created' | 'state' | 'transfer' | 'stray' | 'delivery' | 'action' | 'sweep';
  /** One plain sentence. */
  title: string;
  /** An event, delivery, transaction or audit row to look at. */
  refs: { eventId?: string; deliveryId?: string; txHash?: string; explorerUrl?: string | null; actor?: string };
  detail: Record<string, unknown>;
};

/** A count or sum per day (UTC), oldest first, every day of the range present. */
export type Home = {
  days: string[];
  /** What was confirmed for completed payments by token of a network, by the day of completion, as decimals. */
  volumes: { currency: string; network: string; total: string; perDay: string[]; count: number }[];
  /** Of the payments made on each day: how many, and how many of them are completed now. */
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
  networks: {
    slug: string;
    name: string;
    /** What stands behind the network in this environment. */
    backing: 'mainnet' | 'testnet' | 'devchain';
    status: string;
    latestBlock: number | null;
    lagSeconds: number | null;
    checkedAt: string | null;
  }[];
  openNow: number;
  /** Payments that a person should look at: underpaid, late, reversed. */
  attention: { status: string; exception: string; count: number }[];
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
  /** Decimal, and how many payments hold it. Confirmed funds alone. */
  amount: string;
  payments: number;
  /** Estimated for a batch of all of them, in units of gas and of the native coin; null where the node does not say. */
  gas: { units: string; costNative: string | null; nativeCurrency: string } | null;
};

export type SweepPlan = {
  /** One transaction a batch, to be signed by any wallet: the forwarders pay the treasury whoever sends it. */
  transactions: { chainId: number; to: string; data: string; value: '0x0'; payments: string[]; gas: string | null }[];
  amount: string;
  currency: string;
  /** Payments that hold funds and are not in this plan: it is as long as a person can sign, the oldest first. */
  remaining: number;
};
export type SweepRow = {
  id: string;
  network: string;
  currency: string;
  txHash: string | null;
  /** Failed: its payments were emptied by others. One that is never mined stays `sent`. */
  status: 'sent' | 'landed' | 'failed';
  payments: number;
  amount: string;
  createdAt: string;
  landedAt: string | null;
  by: string | null;
};

/** What payments can be made in, in this environment. */
export type PayableNetwork = {
  slug: string;
  name: string;
  caip2: string;
  chainId: number | null;
  status: string;
  explorerUrl: string | null;
  /** The chain that this start brought along: payments on it can be simulated. */
  isLocal: boolean;
  currencies: { symbol: string; name: string; decimals: number; minAmount: string }[];
};

export type MoneyApi = {
  'GET /networks': { answer: { data: PayableNetwork[] } };
  'GET /home': { query: { days?: number }; answer: Home };
  'GET /go-live': { answer: GoLive };
  'GET /payments': {
    query: {
      status?: string;
      currency?: string;
      network?: string;
      exception?: string;
      from?: string;
      to?: string;
      /** An id, address, transaction or externalId, exactly. */
      search?: string;
      limit?: number;
      offset?: number;
    };
    answer: { data: PaymentObject[]; pagination: { limit: number; offset: number; total: number } };
  };
  /** A file, not JSON; same filters. */
  'GET /payments.csv': { query: Record<string, string>; answer: never };
  'GET /payments/:id': {
    /**
     * The treasury is where a sweep brings the money; null where the address is in a wallet of one's own already.
     * `isCut`: more happened than the timeline tells. Of each kind it has the newest, of transfers the largest.
     */
    answer: { payment: PaymentObject; treasury: string | null; timeline: TimelineEntry[]; isCut: boolean };
  };
  'POST /payments': {
    body: { amount: string; currency: string; network: string; description?: string };
    answer: PaymentObject;
  };
  'POST /payments/:id/cancel': { answer: PaymentObject };
  'POST /payments/:id/resolve': { answer: PaymentObject };
  /** Sandbox on the local chain. */
  'POST /payments/:id/simulate': { body: { outcome: string }; answer: PaymentObject };
  'GET /settlement': { answer: { unswept: UnsweptRow[]; sweeps: SweepRow[] } };
  /** Of one row of what is unswept: whoever signs has seen where it goes. */
  'POST /settlement/plan': { body: { network: string; currency: string; treasury: string }; answer: SweepPlan };
  'POST /settlement/sweeps': {
    body: { network: string; currency: string; txHash: string; payments: string[] };
    answer: SweepRow;
  };
};
