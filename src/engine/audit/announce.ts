import { type Act, isAnnounced, isPersonal, isUrgent } from '../../core/announcements.ts';
import { type Environment, environments } from '../../core/environment.ts';
import type { AuditLogEnd, Outgoing, SecurityNotice } from '../../core/outbox.ts';
import type { TraceContext } from '../../core/traceContext.ts';
import { listManagers, listPersonOnce } from '../../storage/access/mailReaders.ts';
import type { Queryable } from '../../storage/database.ts';
import { insertAccountEvent } from '../../storage/webhooks/events.ts';
import type { Context } from '../context.ts';
import { accountEvent } from '../webhooks/eventSeal.ts';
import { takeMessage } from './mailBudgets.ts';
import { enqueue } from './outbox.ts';

export type Announcer = Pick<Context, 'clock' | 'ids' | 'vault'>;

/** Where an endpoint that asked for security events was reached before it was deleted or changed. */
export type Farewell = {
  readonly url: string;
  readonly secrets: readonly string[];
  /** The endpoint, if it has a budget of its own; null for one that is too new for that. */
  readonly countedFor: string | null;
};

/** An act that may have to be announced. */
export type ActOfAccount = Act &
  Pick<SecurityNotice, 'subject'> & {
    readonly actor: SecurityNotice['actor'] & { readonly name: string };
    readonly accountId: string;
    readonly farewell?: Farewell | undefined;
    /** Of the request that did it. */
    readonly trace?: TraceContext | null;
  };

const noticeOf = ({ action, actor, subject }: ActOfAccount, at: Date): SecurityNotice => ({
  action,
  actor: { kind: actor.kind, id: actor.id },
  subject,
  at: at.toISOString(),
});

/** The body of a security event. It has no payment, so it has neither `sequence` nor `previous`. */
export const renderSecurityEvent = (event: {
  readonly id: string;
  readonly atMs: number;
  readonly environment: Environment;
  readonly notice: SecurityNotice;
}): string =>
  JSON.stringify({
    id: event.id,
    type: 'account.security',
    timestamp: new Date(event.atMs).toISOString(),
    apiVersion: 'v1',
    environment: event.environment,
    data: event.notice,
  });

/** In which queue mails about an act wait; null if there were too many. Events, alerts, log and pages tell of each act. */
const queueFor = async (tx: Queryable, { accountId, action }: ActOfAccount): Promise<'mail' | 'minor_mail' | null> => {
  if (isUrgent(action)) return (await takeMessage(tx, 'urgent', accountId)) ? 'mail' : 'minor_mail';
  const sort = action.startsWith('webhook.') ? 'webhook' : 'other';
  return (await takeMessage(tx, sort, accountId)) ? 'minor_mail' : null;
};

/** Nobody gets a mail about the sandbox: its money is worthless, and mails that come daily are not read. */
const mailsOf = async (tx: Queryable, act: ActOfAccount, at: Date): Promise<Outgoing[]> => {
  const { accountId, environment, action, actor, subject } = act;
  if (environment === 'sandbox') return [];
  const readers = isPersonal(action)
    ? await listPersonOnce(tx, accountId, actor.kind === 'person' ? actor.id : subject)
    : await listManagers(tx, accountId, action.startsWith('person.') ? subject : null);
  // Before the budget: what nobody reads must not use it up.
  if (readers.length === 0) return [];
  const kind = await queueFor(tx, act);
  if (kind === null) return [];
  return readers.map(({ email, accountName }) => ({
    kind,
    to: email,
    notice: {
      kind: 'security',
      accountName,
      environment,
      action,
      actorName: actor.name,
      subject,
      at: at.toISOString(),
    },
  }));
};

/**
 * Announces an act of the audit log, in its transaction: an event for receivers that ask for it, an alert for the
 * operator with the row of the log, and mails. An act that concerns the account as a whole is an event of both environments.
 */
export const announce = async (
  context: Announcer,
  tx: Queryable,
  act: ActOfAccount,
  { at, auditLog }: { readonly at: Date; readonly auditLog: AuditLogEnd },
): Promise<void> => {
  if (!isAnnounced(act)) return;
  const { accountId, farewell, trace = null } = act;
  const notice = noticeOf(act, at);
  for (const environment of act.environment === null ? environments : [act.environment]) {
    const { id, ms: atMs } = context.ids.next('event', context.clock.nowMs());
    const body = renderSecurityEvent({ id, atMs, environment, notice });
    const scope = { accountId, environment };
    const event = { id, type: 'account.security', body, createdAt: new Date(atMs), trace };
    await insertAccountEvent(tx, scope, accountEvent(context.vault, scope, event));
    if (farewell && (await takeMessage(tx, 'farewell', accountId, environment, farewell.countedFor ?? ''))) {
      const { url, secrets } = farewell;
      await enqueue(context, tx, [{ kind: 'farewell', environment, url, secrets, eventId: id, body }]);
    }
  }
  const { id: eventId } = context.ids.next('event', context.clock.nowMs());
  const alert: Outgoing = { kind: 'alert', eventId, accountId, environment: act.environment, notice, auditLog };
  await enqueue(context, tx, [alert, ...(await mailsOf(tx, act, at))]);
};
