import type { AuditRow } from '../../../src/core/dashboard/teamApi.ts';

type Detail = Readonly<Record<string, unknown>>;
const word = (detail: Detail, name: string): string => {
  const value = detail[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};
const named = (detail: Detail, name: string): string => (word(detail, name) ? ` “${word(detail, name)}”` : '');

/** What was done, after the name of who did it. */
const sentences: Readonly<Record<string, (detail: Detail, subject: string) => string>> = {
  'key.created': detail => `created the key${named(detail, 'name')}`,
  'key.rotated': detail => `rotated the key${named(detail, 'name')}`,
  'key.revoked': detail => `revoked the key${named(detail, 'name')}`,
  'webhook.created': detail => `added the endpoint ${word(detail, 'url')}`,
  'webhook.changed': (_, subject) => `changed the endpoint ${subject}`,
  'webhook.deleted': detail => `deleted the endpoint ${word(detail, 'url')}`,
  'webhook.replayed': (_, subject) => `replayed events to the endpoint ${subject}`,
  'secret.revealed': (detail, subject) =>
    subject === 'callbackUrl'
      ? 'revealed the callback secret'
      : `revealed the secret of ${word(detail, 'url') || subject}`,
  'secret.rotated': (detail, subject) => `rotated the secret of ${word(detail, 'url') || subject}`,
  'delivery.resent': (_, subject) => `resent the delivery ${subject}`,
  'wallet.set': (_, subject) => `set the wallet of ${subject}`,
  'wallet.change_requested': (_, subject) => `asked to change the wallet of ${subject}`,
  'wallet.change_stopped': (_, subject) => `stopped a change of the wallet of ${subject}`,
  'wallet.verified': (_, subject) => `verified the wallet of ${subject}`,
  'settings.changed': detail => `changed settings: ${Object.keys(detail).join(', ')}`,
  'settlement.swept': (_, subject) => `recorded the sweep ${subject}`,
  'payments.exported': () => 'exported payments as CSV',
  'payment.created': (_, subject) => `created the payment ${subject}`,
  'payment.canceled': (_, subject) => `canceled the payment ${subject}`,
  'payment.simulated': (_, subject) => `simulated what happens to ${subject}`,
  'payment.resolved': (_, subject) => `accepted what was paid of ${subject}`,
  'invitation.created': detail => `invited ${word(detail, 'email')} as ${word(detail, 'role')}`,
  'invitation.withdrawn': detail => `withdrew the invitation of ${word(detail, 'email')}`,
  'person.joined': detail => `joined the team${word(detail, 'role') ? ` as ${word(detail, 'role')}` : ''}`,
  'person.removed': detail => `removed ${word(detail, 'email')} from the team`,
  'person.role_changed': detail =>
    `changed the role of ${word(detail, 'email')} from ${word(detail, 'from')} to ${word(detail, 'to')}`,
  'person.renamed': detail => `changed their name to ${word(detail, 'to')}`,
  'person.signed_in': () => 'signed in',
  'person.proved': () => 'confirmed a sensitive step',
  'person.locked_out': () => 'was locked out after too many wrong tries',
  'person.password_changed': () => 'changed their password',
  'person.passkey_added': () => 'added a passkey',
  'person.passkey_removed': () => 'removed a passkey',
  'person.totp_added': () => 'turned on codes from an authenticator',
  'person.totp_removed': () => 'turned off codes from an authenticator',
  'person.recovery_codes_renewed': () => 'made new recovery codes',
  'session.signed_out': () => 'signed out',
  'session.ended': () => 'ended a session',
  'session.replaced': () => 'signed in anew in place of a session',
  'session.others_ended': () => 'ended all other sessions',
  'setup_link.created': () => 'made a setup link',
};

export const auditActions = Object.keys(sentences).sort();

/** A word that this app does not know yet is shown as it is. */
export const auditText = ({ action, subject, detail }: AuditRow): string => {
  const say = sentences[action];
  if (say) return say(detail, subject ?? 'something').trim();
  return `${action.replaceAll('.', ' ').replaceAll('_', ' ')}${subject === null ? '' : ` ${subject}`}`;
};
