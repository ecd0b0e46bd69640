import { isUrgent } from './announcements.ts';
import type { Environment } from './environment.ts';
import type { Mail } from './mailNotice.ts';

export const actorKinds = ['key', 'person', 'operator', 'system'] as const;

/** What an announced act says, without names and e-mail addresses: it goes to receivers and into logs. */
export type SecurityNotice = {
  readonly action: string;
  readonly actor: { readonly kind: (typeof actorKinds)[number]; readonly id: string | null };
  /** What it was done to: an id or a network. */
  readonly subject: string | null;
  readonly at: string;
};

/** The last row of an account's audit log at a moment. Outside of the database, it shows later that rows are missing. */
export type AuditLogEnd = { readonly sequence: string; readonly hash: string };

const [secondMs, minuteMs, hourMs] = [1_000, 60_000, 3_600_000];
const outdatedMs = 24 * hourMs;

/** What the outbox sends. The kinds are stored, so they never change. */
export type Outgoing =
  /** To the operator: the log and FLORIN_ALERT_URL. */
  | {
      readonly kind: 'alert';
      readonly eventId: string;
      /** Null if it is about Florin itself. */
      readonly accountId: string | null;
      readonly environment: Environment | null;
      readonly notice: SecurityNotice;
      /** Absent in alerts that an earlier version queued. */
      readonly auditLog?: AuditLogEnd;
    }
  /** To where an endpoint was before it was deleted or changed. */
  | {
      readonly kind: 'farewell';
      readonly environment: Environment;
      readonly url: string;
      readonly secrets: readonly string[];
      readonly eventId: string;
      readonly body: string;
    }
  /** `mail`: about wallets, owners and sign-ins. They do not wait behind the others. */
  | ({ readonly kind: 'mail' | 'minor_mail' } & Mail)
  /** Somebody asked for a recovery link at the sign-in page, whether or not the address has a sign-in. */
  | { readonly kind: 'recovery'; readonly email: string; readonly address: string };

/**
 * Whether a mail waited for so long without anybody trying to send it that it says nothing new: mail was not set up, or no
 * process sent it. Links have a time of their own, and what is about wallets, owners and sign-ins is always worth knowing.
 */
export const isOutdated = (outgoing: Outgoing, overdueMs: number): boolean =>
  overdueMs > outdatedMs &&
  (outgoing.kind === 'recovery' ||
    (outgoing.kind === 'minor_mail' && outgoing.notice.kind === 'security' && !isUrgent(outgoing.notice.action)));

/** What happens after a failed attempt. */
export type OutboxVerdict =
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'parked'; readonly reason: string };

/** The delay before each retry; the last one repeats. */
const retryDelaysMs = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs, 3 * hourMs];
const longestMs = 7 * 24 * hourMs;
const jitter = 0.2;

/** `failures` counts earlier failures, `ageMs` is since it was written, and `random` is in [0, 1). */
export const judgeFailure = (
  failure: { readonly reason: string; readonly isPermanent: boolean },
  { failures, ageMs, random }: { failures: number; ageMs: number; random: number },
): OutboxVerdict => {
  if (failure.isPermanent) return { kind: 'parked', reason: failure.reason };
  const delayMs = retryDelaysMs[Math.min(failures, retryDelaysMs.length - 1)]!;
  if (ageMs + delayMs > longestMs) return { kind: 'parked', reason: `failed for 7 days; the last: ${failure.reason}` };
  return { kind: 'retry', delayMs: Math.round(delayMs * (1 - jitter + 2 * jitter * random)) };
};
