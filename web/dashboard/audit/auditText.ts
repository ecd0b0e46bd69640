import type { Role } from '../../../src/core/access/rights.ts';
import type { AuditRow } from '../../../src/core/api/teamApi.ts';
import { type AuditAction, auditActions } from '../../../src/core/auditActions.ts';
import { networkName } from '../kit/networkName.ts';
import { roleNames } from '../roleNames.ts';

type Detail = Readonly<Record<string, unknown>>;
/** `label` names the action in the filter. `text` follows the actor's name and completes the sentence. */
type Words = { readonly label: string; readonly text: (detail: Detail, subject: string) => string };

const word = (detail: Detail, name: string): string => {
  const value = detail[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};
const quoted = (detail: Detail, name: string): string => (word(detail, name) ? ` “${word(detail, name)}”` : '');
const role = (detail: Detail, name: string): string => roleNames[word(detail, name) as Role] ?? word(detail, name);

const settingNames: Readonly<Record<string, string>> = {
  accountName: 'account name',
  tolerancePercent: 'tolerance',
  latePolicy: 'late payments',
  lateWindowDays: 'late payment window',
  checkoutOrigins: 'sites that may embed the checkout',
  supportContact: 'support contact',
  displayName: 'brand name',
  accentColor: 'brand colour',
  logo: 'logo',
};
const changedSettings = (detail: Detail): string =>
  Object.keys(detail)
    .map(name => settingNames[name] ?? name)
    .join(', ');

const words: Readonly<Record<AuditAction, Words>> = {
  'account.created': { label: 'Account created', text: detail => `created the account${quoted(detail, 'name')}` },
  'delivery.resent': {
    label: 'Webhook delivery resent',
    text: (_, subject) => `resent the webhook delivery ${subject}`,
  },
  'invitation.created': {
    label: 'Person invited',
    text: detail => `invited ${word(detail, 'email')} to the team as ${role(detail, 'role')}`,
  },
  'invitation.withdrawn': {
    label: 'Invitation withdrawn',
    text: detail => `withdrew the invitation for ${word(detail, 'email')}`,
  },
  'key.created': { label: 'API key created', text: detail => `created the API key${quoted(detail, 'name')}` },
  'key.revoked': { label: 'API key revoked', text: detail => `revoked the API key${quoted(detail, 'name')}` },
  'key.rotated': { label: 'API key rotated', text: detail => `rotated the API key${quoted(detail, 'name')}` },
  'ledger.corrected': {
    label: 'Ledger corrected',
    text: (detail, subject) => `corrected the ledger of the payment ${subject} by ${word(detail, 'amount')} base units`,
  },
  'master_key.rotated': { label: 'Master key replaced', text: () => 'replaced the master key of this installation' },
  'payment.canceled': { label: 'Payment canceled', text: (_, subject) => `canceled the payment ${subject}` },
  'payment.created': { label: 'Payment created', text: (_, subject) => `created the payment ${subject}` },
  'payment.erased': {
    label: 'Personal data erased',
    text: (_, subject) => `erased the personal data of the payment ${subject}`,
  },
  'payment.resolved': {
    label: 'Payment accepted as received',
    text: (_, subject) => `accepted the amount received for the payment ${subject}`,
  },
  'payment.simulated': {
    label: 'Payment simulated',
    text: (detail, subject) => `simulated${quoted(detail, 'outcome') || ' an outcome'} for the payment ${subject}`,
  },
  'payment.transfer_verified': {
    label: 'Transfer verified by decision',
    text: (detail, subject) =>
      `decided that the transfer of ${word(detail, 'amount')} to the payment ${subject} is real`,
  },
  'payments.exported': { label: 'Payments exported', text: () => 'exported payments as a CSV file' },
  'person.guesses_noticed': {
    label: 'Password guesses noticed',
    text: (detail, subject) =>
      `noticed wrong passwords for ${word(detail, 'email') || subject} from ${word(detail, 'addresses') || 'many'} addresses`,
  },
  'person.joined': {
    label: 'Person joined',
    text: detail => `joined the team${word(detail, 'role') ? ` as ${role(detail, 'role')}` : ''}`,
  },
  'person.locked_out': {
    label: 'Person locked out',
    text: (detail, subject) => {
      const failures = word(detail, 'failures');
      return `locked out ${word(detail, 'email') || subject} after ${failures || 'too many'} failed attempts`;
    },
  },
  'person.passkey_added': { label: 'Passkey added', text: detail => `added the passkey${quoted(detail, 'name')}` },
  'person.passkey_removed': {
    label: 'Passkey removed',
    text: detail => `removed the passkey${quoted(detail, 'name')}`,
  },
  'person.password_changed': { label: 'Password changed', text: () => 'changed their password' },
  'person.proved': { label: 'Identity confirmed', text: () => 'confirmed their identity for a sensitive action' },
  'person.recovered': { label: 'Sign-in recovered', text: () => 'set a new password with a recovery link' },
  'person.recovery_link_created': {
    label: 'Recovery link created',
    text: detail => `created a recovery link for ${word(detail, 'email')}`,
  },
  'person.recovery_codes_renewed': { label: 'Recovery codes renewed', text: () => 'created new recovery codes' },
  'person.removed': { label: 'Person removed', text: detail => `removed ${word(detail, 'email')} from the team` },
  'person.renamed': { label: 'Person renamed', text: detail => `changed their name to${quoted(detail, 'to')}` },
  'person.role_changed': {
    label: 'Role changed',
    text: detail =>
      `changed the role of ${word(detail, 'email')} from ${role(detail, 'from')} to ${role(detail, 'to')}`,
  },
  'person.sign_in_restored': {
    label: 'Sign-in restored',
    text: () => 'signed in as before a change of the sign-in, which undid it',
  },
  'person.signed_in': { label: 'Signed in', text: () => 'signed in' },
  'person.totp_added': { label: 'Authenticator app turned on', text: () => 'turned on the authenticator app' },
  'person.totp_removed': { label: 'Authenticator app turned off', text: () => 'turned off the authenticator app' },
  'records.confirmed': {
    label: 'Records confirmed',
    text: () => 'confirmed keys, wallets, members, webhook endpoints and settings as they are in the database',
  },
  'recovery.exported': {
    label: 'Recovery file exported',
    text: detail => `exported a recovery file with ${word(detail, 'payments')} payments`,
  },
  'restore.declared': {
    label: 'Restore declared',
    text: () => 'declared that the account was restored from a backup',
  },
  'restore.reviewed': {
    label: 'Restore reviewed',
    text: () => 'reviewed the account after a restore and opened production',
  },
  'secret.revealed': {
    label: 'Signing secret revealed',
    text: (detail, subject) =>
      subject === 'callbackUrl'
        ? 'revealed the signing secret of callbacks'
        : `revealed the signing secret of ${word(detail, 'url') || subject}`,
  },
  'secret.rotated': {
    label: 'Signing secret rotated',
    text: (detail, subject) => `rotated the signing secret of ${word(detail, 'url') || subject}`,
  },
  'session.ended': { label: 'Session ended', text: () => 'ended one of their sessions' },
  'session.others_ended': { label: 'Other sessions ended', text: () => 'ended all their other sessions' },
  'session.replaced': {
    label: 'Session replaced',
    text: () => 'signed in again, which ended the earlier session in that browser',
  },
  'session.signed_out': { label: 'Signed out', text: () => 'signed out' },
  'session.switched': { label: 'Account opened', text: () => 'opened this account from another one of theirs' },
  'settings.changed': { label: 'Settings changed', text: detail => `changed settings: ${changedSettings(detail)}` },
  'settlement.swept': {
    label: 'Sweep sent',
    text: detail =>
      `sent a sweep of ${word(detail, 'amount')} ${word(detail, 'currency')} on ${networkName(word(detail, 'network'))}`,
  },
  'setup_link.created': { label: 'Setup link created', text: () => 'created a setup link' },
  'wallet.change_approved': {
    label: 'Wallet change approved',
    text: (detail, subject) =>
      `approved the change of the ${networkName(subject)} wallet that ${word(detail, 'requestedBy')} requested`,
  },
  'wallet.change_in_force': {
    label: 'Wallet change in force',
    text: (_, subject) => `put a requested change of the ${networkName(subject)} wallet into force`,
  },
  'wallet.change_requested': {
    label: 'Wallet change requested',
    text: (_, subject) => `requested a change of the ${networkName(subject)} wallet`,
  },
  'wallet.change_stopped': {
    label: 'Wallet change stopped',
    text: (_, subject) => `stopped a change of the ${networkName(subject)} wallet`,
  },
  'wallet.set': { label: 'Wallet set', text: (_, subject) => `set the ${networkName(subject)} wallet` },
  'wallet.verified': { label: 'Wallet verified', text: (_, subject) => `verified the ${networkName(subject)} wallet` },
  'webhook.changed': {
    label: 'Webhook endpoint changed',
    text: (_, subject) => `changed the webhook endpoint ${subject}`,
  },
  'webhook.created': {
    label: 'Webhook endpoint added',
    text: detail => `added the webhook endpoint ${word(detail, 'url')}`,
  },
  'webhook.deleted': {
    label: 'Webhook endpoint deleted',
    text: detail => `deleted the webhook endpoint ${word(detail, 'url')}`,
  },
  'webhook.replayed': {
    label: 'Webhook events replayed',
    text: (_, subject) => `replayed events to the webhook endpoint ${subject}`,
  },
  'webhook.tested': {
    label: 'Test event sent',
    text: (detail, subject) => `sent the test event ${word(detail, 'type')} to ${word(detail, 'url') || subject}`,
  },
};

export const auditChoices: readonly { readonly value: AuditAction; readonly label: string }[] = auditActions
  .map(value => ({ value, label: words[value].label }))
  .sort((a, b) => a.label.localeCompare(b.label, 'en'));

const isKnown = (action: string): action is AuditAction => action in words;

/** The rest of the sentence after the actor's name. An unknown action, from a later version, is shown by its name. */
export const auditText = ({ action, subject, detail }: AuditRow): string => {
  if (isKnown(action)) return `${words[action].text(detail, subject ?? 'something')}.`;
  return `did “${action}”${subject === null ? '' : ` to ${subject}`}.`;
};
