import type { MailNotice, MailResult, SendMail } from '../core/mailNotice.ts';
import type { Outgoing } from '../core/outbox.ts';
import { isOutdated, judgeFailure } from '../core/outbox.ts';
import { answerRecovery } from '../engine/access/recoveryByMail.ts';
import { openOutgoing } from '../engine/audit/outbox.ts';
import type { Context } from '../engine/context.ts';
import {
  type ClaimedOutgoing,
  claimOutgoing,
  deleteOutgoing,
  parkOutgoing,
  releaseOutgoing,
  retryOutgoing,
} from '../storage/outbox.ts';
import type { Sender } from '../webhooks/send.ts';
import { sendSigned } from '../webhooks/sendSigned.ts';
import { type Loop, startLoop } from './loop.ts';

type Alerts = {
  /** FLORIN_ALERT_URL; null if it is not set: then the log alone is told. */
  readonly url: string | null;
  /** May reach private addresses. */
  readonly sender: Sender;
};

/** Of each kind. */
const atATime = 10;
/** Longer than an attempt can take. */
const claimSeconds = 120;
const intervalMs = 1_000;

const linkOver: MailResult = { reason: 'its link is over', isPermanent: true };
const isOver = (notice: MailNotice, { clock }: Context): boolean =>
  'expiresAt' in notice && Date.parse(notice.expiresAt) <= clock.nowMs();

const resultOf = ({ error }: { readonly error: string | null }): MailResult =>
  error === null ? null : { reason: error, isPermanent: false };

type Alert = Extract<Outgoing, { kind: 'alert' }>;

/** What FLORIN_ALERT_URL is sent. */
export const alertBody = ({ eventId, accountId, environment, notice, auditLog }: Omit<Alert, 'kind'>): string =>
  JSON.stringify({
    id: eventId,
    type: accountId === null ? 'deployment.alert' : 'account.security',
    timestamp: notice.at,
    apiVersion: 'v1',
    environment,
    accountId,
    auditLog,
    data: notice,
  });

/** Tells the log once, and the operator's address until it accepts. */
const sendAlert = async (
  context: Context,
  { url, sender }: Alerts,
  alert: Alert,
  failures: number,
  signal: AbortSignal,
): Promise<MailResult> => {
  const { eventId, accountId, environment, notice, auditLog } = alert;
  const { action, actor, subject, at } = notice;
  const fields = {
    eventId,
    accountId,
    environment,
    action,
    actorKind: actor.kind,
    actorId: actor.id,
    subject,
    at,
    auditLog,
  };
  // What is about Florin itself is in the log already, with its reason.
  if (failures === 0 && accountId !== null) context.log.warn(fields, 'a security event');
  if (url === null) return null;
  const secrets = [context.vault.alertSecret()];
  const atMs = context.clock.nowMs();
  const webhook = { eventId, body: alertBody(alert), secrets, atMs, url, allowLoopback: true };
  return resultOf((await sendSigned(sender, webhook, signal)).outcome);
};

const sendFarewell = async (
  context: Context,
  sender: Sender,
  { environment, url, secrets, eventId, body }: Extract<Outgoing, { kind: 'farewell' }>,
  signal: AbortSignal,
): Promise<MailResult> => {
  const { allowLoopback } = context.environments[environment];
  const atMs = context.clock.nowMs();
  const webhook = { eventId, body, secrets, atMs, url, allowLoopback };
  return resultOf((await sendSigned(sender, webhook, signal)).outcome);
};

/** Records what came of an attempt. */
const settle = async (context: Context, claimed: ClaimedOutgoing, result: MailResult): Promise<void> => {
  const { id, kind, failures, ageMs } = claimed;
  if (result === null) {
    await deleteOutgoing(context.db, id);
    return;
  }
  const verdict = judgeFailure(result, { failures, ageMs, random: Math.random() });
  if (verdict.kind === 'retry') return retryOutgoing(context.db, claimed, verdict.delayMs);
  await parkOutgoing(context.db, claimed, verdict.reason);
  context.log.error({ outgoingId: id, kind, reason: verdict.reason }, 'something was not sent and is not tried again');
};

type Send = (outgoing: Outgoing, claimed: ClaimedOutgoing, signal: AbortSignal) => Promise<MailResult>;

/** A row that cannot be opened holds up no other. */
const attempt = async (
  context: Context,
  claimed: ClaimedOutgoing,
  send: Send,
  signal: AbortSignal,
): Promise<MailResult> => {
  try {
    return await send(openOutgoing(context, claimed), claimed, signal);
  } catch (error) {
    context.log.error({ outgoingId: claimed.id, err: error }, 'something could not be sent');
    return { reason: 'it could not be prepared', isPermanent: false };
  }
};

/**
 * Sends one kind of message, a few at a time. A place is free again as soon as its attempt ends, so one address that hangs
 * holds up one place, and no other kind. Any number of processes share the work.
 */
const startLane = (context: Context, kind: Outgoing['kind'], send: Send): Loop => {
  const { db, log } = context;
  const underWay = new Set<Promise<void>>();
  const sendOne = async (claimed: ClaimedOutgoing, signal: AbortSignal): Promise<void> => {
    try {
      if (signal.aborted) return await releaseOutgoing(db, claimed);
      const result = await attempt(context, claimed, send, signal);
      // The shutdown ended the attempt, or it failed meanwhile: it counts as none.
      await (signal.aborted && result !== null ? releaseOutgoing(db, claimed) : settle(context, claimed, result));
    } catch (error) {
      // It is claimed again after its time, and may be sent twice.
      log.warn({ outgoingId: claimed.id, err: error }, 'what came of an attempt could not be recorded');
    }
  };
  const loop = startLoop({
    name: kind,
    intervalMs,
    log,
    async work(signal) {
      const claimed = await claimOutgoing(db, kind, { limit: atATime - underWay.size, seconds: claimSeconds });
      for (const each of claimed) {
        const sending: Promise<void> = sendOne(each, signal).finally(() => underWay.delete(sending));
        underWay.add(sending);
      }
      if (underWay.size < atATime) return false;
      await Promise.race(underWay);
      return true;
    },
  });
  return {
    async stop() {
      await loop.stop();
      await Promise.all(underWay);
    },
  };
};

const together = (lanes: readonly Loop[]): Loop => ({
  async stop() {
    await Promise.all(lanes.map(lane => lane.stop()));
  },
});

/** Starts nothing where mail is not set up: mails then wait for a process that has it, and are purged after a week. */
export const startMailSender = (context: Context, sendMail: SendMail): Loop => {
  const send: Send = async (outgoing, { id, overdueMs }, ending) => {
    if (isOutdated(outgoing, overdueMs)) {
      context.log.warn({ outgoingId: id, kind: outgoing.kind }, 'a mail waited for over a day and is not sent');
      return null;
    }
    if (outgoing.kind === 'mail' || outgoing.kind === 'minor_mail')
      return isOver(outgoing.notice, context) ? linkOver : sendMail(outgoing, ending);
    if (outgoing.kind === 'recovery') await answerRecovery(context, outgoing);
    return null;
  };
  return together((['mail', 'minor_mail', 'recovery'] as const).map(kind => startLane(context, kind, send)));
};

/** Sends alerts and farewells. */
export const startOutboxSender = (
  context: Context,
  { sender, alerts }: { readonly sender: Sender; readonly alerts: Alerts },
): Loop => {
  const send: Send = async (outgoing, { failures }, ending) => {
    if (outgoing.kind === 'alert') return sendAlert(context, alerts, outgoing, failures, ending);
    return outgoing.kind === 'farewell' ? sendFarewell(context, sender, outgoing, ending) : null;
  };
  return together((['alert', 'farewell'] as const).map(kind => startLane(context, kind, send)));
};
