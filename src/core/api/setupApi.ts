import type { Permission } from '../access/rights.ts';
import type { DeliveryStatus } from '../delivery.ts';
import type { Delivery, DeliveryAttempt, Replay, ReplayRequest } from './delivery.ts';
import type { FeedPagination } from './listPage.ts';
import type { AuditRow } from './teamApi.ts';
import type { Endpoint, EndpointPatch, EndpointRequest, TestRequest, TestResult } from './webhookEndpoint.ts';

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

/** With what only the dashboard shows. */
export type DeliveryOfPayment = Delivery & { paymentId: string | null };
/** Of an event that is not stored, so its id leads nowhere. */
export type ShownTestResult = Omit<TestResult, 'eventId'>;

export type Wallet = {
  network: string;
  kind: 'forwarder' | 'xpub';
  destination: string;
  version: number;
  createdAt: string;
  verifiedAt: string | null;
  /**
   * The first five receiving addresses of an extended public key, for comparison with the merchant's own wallet. Empty
   * for a treasury: each payment gets its own forwarder, so there is only the treasury to compare.
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
  /** Whoever requested it, and the owners who approved it. */
  approvals: { personId: string; name: string }[];
  /** Until it takes effect, owners and how they sign in cannot change. False if two owners are behind the change. */
  holdsOwners: boolean;
};

export type Branding = {
  displayName: string | null;
  /** #rrggbb. The checkout shows the nearest readable shade, in light and in dark mode. */
  accentColor: string | null;
  /** A data: URL of at most 64 KiB (PNG, JPEG or WebP; never SVG). */
  logo: string | null;
};
export type Settings = {
  accountName: string;
  plan: string;
  limits: { perMinute: number; burst: number };
  tolerancePercent: string;
  /** Null: by currency. Late tokens are accepted, late native coin waits for a decision. */
  latePolicy: 'accept' | 'manual' | null;
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
    body: EndpointRequest;
    /** `ping` is the result of the test event that is sent at once. */
    answer: { endpoint: Endpoint; secret: string; ping: ShownTestResult };
  };
  'GET /webhooks/:id': { answer: Endpoint };
  'PATCH /webhooks/:id': {
    body: EndpointPatch;
    answer: Endpoint;
  };
  'DELETE /webhooks/:id': { answer: Done };
  'POST /webhooks/:id/reveal': { answer: { secret: string } };
  'POST /webhooks/:id/rotate': { answer: { secret: string } };
  'POST /webhooks/:id/test': { body: Required<TestRequest>; answer: ShownTestResult };
  'POST /webhooks/:id/replay': { body: ReplayRequest; answer: Replay };
  'GET /webhooks/:id/deliveries': {
    /** `cursor` is the `nextCursor` of the previous page. */
    query: { status?: DeliveryStatus; limit?: number; cursor?: string };
    answer: { data: DeliveryOfPayment[]; pagination: FeedPagination };
  };
  /** `body` is the request body of every attempt. `log` lists the latest 50, newest first. */
  'GET /deliveries/:id': { answer: DeliveryOfPayment & { log: DeliveryAttempt[]; body: string } };
  'POST /deliveries/:id/resend': { answer: DeliveryOfPayment };
  'GET /wallets': { answer: { data: (Wallet | { network: string; kind: null; pending: WalletChange | null })[] } };
  /** Checks the destination and derives addresses. Writes nothing. */
  'POST /wallets/preview': {
    body: { network: string; treasury?: string; xpub?: string };
    answer: { kind: 'forwarder' | 'xpub'; destination: string; sampleAddresses: string[]; waitsHours: number };
  };
  /** The first wallet of a network takes effect at once; a change waits. */
  'POST /wallets': {
    body: { network: string; treasury?: string; xpub?: string };
    answer: { wallet: Wallet | null; pending: WalletChange | null };
  };
  /** The person has found the addresses, or the treasury, in their own wallet. `version` is the version they saw. */
  'POST /wallets/:network/verify': { body: { version: number }; answer: Wallet };
  'POST /wallet-changes/:id/stop': { answer: Done };
  /** By another owner than the one who requested the change. */
  'POST /wallet-changes/:id/approve': { answer: Done };
  /** Changes in both environments. Every page shows them. */
  'GET /announcements': {
    answer: {
      walletChanges: (WalletChange & { environment: 'sandbox' | 'production' })[];
      /** Members for whom there is a link to set a new password. */
      recoveries: { email: string; opensAt: string }[];
      /** Security events of the last days, newest first, without the sandbox's. Addresses are left out. */
      acts: AuditRow[];
      /** When a restore was declared that waits for a review: until then production is closed. */
      restoredAt: string | null;
    };
  };
  /** An owner has looked at the account, and opens production. `restoredAt` is the restore that they saw. */
  'POST /restore-review': { body: { restoredAt: string }; answer: Done };
  /** Sends a test message to the user. `error` is null if the mail server accepted it. */
  'POST /mail/test': { answer: { error: string | null } };
  'GET /settings': { answer: Settings };
  'PATCH /settings': { body: Partial<Omit<Settings, 'plan' | 'limits'>>; answer: Settings };
  'POST /settings/callback-secret/reveal': { answer: { secret: string } };
};
