import type { Permission } from '../permissions.ts';

/** Keys, webhooks, wallets, settings. The environment is a query parameter of each. */

export type ApiKey = {
  id: string;
  name: string;
  hint: string;
  scopes: Permission[];
  ipAllow: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  successorId: string | null;
  lastUsedAt: string | null;
  status: 'active' | 'rotating' | 'expired' | 'revoked';
};

export type Endpoint = {
  id: string;
  url: string;
  events: string[];
  description: string | null;
  status: 'enabled' | 'disabled';
  disabledReason: string | null;
  createdAt: string;
};
export type Delivery = {
  id: string;
  eventId: string;
  eventType: string;
  paymentId: string | null;
  /** Null for a payment's callbackUrl. */
  endpointId: string | null;
  url: string;
  status: 'scheduled' | 'succeeded' | 'parked';
  attempts: number;
  nextAttemptAt: string | null;
  createdAt: string;
  finishedAt: string | null;
  parkedReason: string | null;
};
export type Attempt = {
  /** Counts up from 1; the latest comes first. */
  number: number;
  startedAt: string;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  url: string;
  requestHeaders: Record<string, string>;
  /** The first 16 KiB of the receiver's answer. What was sent is the delivery's `body`, every time. */
  responseBody: string | null;
};

export type Wallet = {
  network: string;
  kind: 'forwarder' | 'xpub';
  destination: string;
  version: number;
  createdAt: string;
  verifiedAt: string | null;
  /**
   * The first five receiving addresses of an extended public key, to be held against one's own wallet. Empty for a
   * treasury: each payment gets a forwarder of its own, and what is in one's own wallet is the treasury itself.
   */
  sampleAddresses: string[];
  pending: WalletChange | null;
};
export type WalletChange = {
  id: string;
  network: string;
  kind: 'forwarder' | 'xpub';
  destination: string;
  requestedAt: string;
  requestedBy: string;
  takesEffectAt: string;
};

export type Branding = {
  displayName: string | null;
  /** #rrggbb. Shown in the nearest shade that can be read, with black or white on it, in light and in dark. */
  accentColor: string | null;
  /** A picture of at most 64 KiB as a data: URL (PNG, JPEG, WebP); never SVG. */
  logo: string | null;
};
export type Settings = {
  accountName: string;
  plan: string;
  limits: { perMinute: number; burst: number };
  tolerancePercent: string;
  latePolicy: 'accept' | 'manual';
  lateWindowDays: number;
  checkoutOrigins: string[];
  supportContact: string | null;
  branding: Branding;
};

type Done = { done: true };

export type SetupApi = {
  'GET /keys': { answer: { data: ApiKey[] } };
  'POST /keys': {
    body: { name: string; scopes: Permission[]; ipAllow?: string[] | null; expiresAt?: string | null };
    answer: ApiKey & { key: string };
  };
  'POST /keys/:id/rotate': { body: { overlap: '0' | '1h' | '24h' | '7d' }; answer: ApiKey & { key: string } };
  'POST /keys/:id/revoke': { answer: ApiKey };
  'GET /webhooks': { answer: { data: Endpoint[] } };
  'POST /webhooks': {
    body: { url: string; events: string[]; description?: string | null };
    /** `ping` is what came of the test event sent at once. */
    answer: { endpoint: Endpoint; secret: string; ping: TestResult };
  };
  'GET /webhooks/:id': { answer: Endpoint };
  'PATCH /webhooks/:id': {
    body: { url?: string; events?: string[]; description?: string | null; status?: 'enabled' | 'disabled' };
    answer: Endpoint;
  };
  'DELETE /webhooks/:id': { answer: Done };
  'POST /webhooks/:id/reveal': { answer: { secret: string } };
  'POST /webhooks/:id/rotate': { answer: { secret: string } };
  'POST /webhooks/:id/test': { body: { type: string }; answer: TestResult };
  'POST /webhooks/:id/replay': { body: { from: string; to: string }; answer: { scheduled: number } };
  'GET /webhooks/:id/deliveries': {
    /** A log that only grows is read from page to page: `cursor` is the page's `nextCursor` before. */
    query: { status?: 'scheduled' | 'succeeded' | 'parked'; limit?: number; cursor?: string };
    answer: { data: Delivery[]; pagination: { limit: number; hasMore: boolean; nextCursor: string | null } };
  };
  /** `body` is what every attempt has sent. The latest fifty attempts are shown. */
  'GET /deliveries/:id': { answer: { delivery: Delivery; attempts: Attempt[]; body: string } };
  'POST /deliveries/:id/resend': { answer: Delivery };
  'GET /wallets': { answer: { data: (Wallet | { network: string; kind: null; pending: WalletChange | null })[] } };
  /** Checks and derives; writes nothing. */
  'POST /wallets/preview': {
    body: { network: string; treasury?: string; xpub?: string };
    answer: { kind: 'forwarder' | 'xpub'; destination: string; sampleAddresses: string[]; waitsHours: number };
  };
  /** The first wallet of a network is in force at once; a change waits. */
  'POST /wallets': {
    body: { network: string; treasury?: string; xpub?: string };
    answer: { wallet: Wallet | null; pending: WalletChange | null };
  };
  /** The person has found the addresses, or the treasury, in a wallet of their own. Names the version that they saw. */
  'POST /wallets/:network/verify': { body: { version: number }; answer: Wallet };
  'POST /wallet-changes/:id/stop': { answer: Done };
  /** Of both environments: announced on every page. */
  'GET /announcements': { answer: { walletChanges: (WalletChange & { environment: 'sandbox' | 'production' })[] } };
  'GET /settings': { answer: Settings };
  'PATCH /settings': { body: Partial<Omit<Settings, 'plan' | 'limits'>>; answer: Settings };
  'POST /settings/callback-secret/reveal': { answer: { secret: string } };
};
export type TestResult = { delivered: boolean; statusCode: number | null; durationMs: number; error: string | null };
