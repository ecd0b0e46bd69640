import type { AuditAction } from './auditActions.ts';
import type { Environment } from './environment.ts';

/** An act as the audit log has it, as far as it decides whether the act is announced. */
export type Act = {
  readonly action: AuditAction;
  /** Null if it concerns the account as a whole. */
  readonly environment: Environment | null;
  /** Must contain no secret. */
  readonly detail: Readonly<Record<string, unknown>>;
};

type Rule = 'always' | 'never' | ((act: Act) => boolean);

const inProduction: Rule = ({ environment }) => environment === 'production';
const ofAnOwner: Rule = ({ detail }) => [detail.role, detail.from, detail.to].includes('owner');

/**
 * Which acts are announced to people, receivers and the operator: those by which a thief with a stolen session would take
 * money or an account. Every action of the audit log needs a rule.
 */
const rules: Readonly<Record<AuditAction, Rule>> = {
  'account.created': 'never',
  'delivery.resent': 'never',
  'invitation.created': 'never',
  'invitation.withdrawn': 'never',
  'key.created': inProduction,
  'key.revoked': 'never',
  'key.rotated': inProduction,
  'ledger.corrected': 'never',
  'master_key.rotated': 'never',
  'payment.canceled': 'never',
  'payment.created': 'never',
  'payment.erased': 'never',
  'payment.resolved': 'never',
  'payment.simulated': 'never',
  'payment.transfer_verified': 'never',
  'payments.exported': 'never',
  'person.guesses_noticed': 'always',
  'person.joined': ofAnOwner,
  'person.locked_out': 'never',
  'person.passkey_added': 'always',
  'person.passkey_removed': 'always',
  'person.password_changed': 'always',
  'person.proved': 'never',
  'person.recovered': 'always',
  'person.recovery_codes_renewed': 'always',
  'person.recovery_link_created': 'always',
  'person.removed': ofAnOwner,
  'person.renamed': 'never',
  'person.role_changed': ofAnOwner,
  'person.sign_in_restored': 'always',
  'person.signed_in': 'never',
  'person.totp_added': 'always',
  'person.totp_removed': 'always',
  'records.confirmed': 'never',
  'recovery.exported': 'never',
  // A member who was removed after the backup must not hear that they are back.
  'restore.declared': 'never',
  'restore.reviewed': 'always',
  'secret.revealed': 'always',
  'secret.rotated': 'always',
  'session.ended': 'never',
  'session.others_ended': 'never',
  'session.replaced': 'never',
  'session.signed_out': 'never',
  'session.switched': 'never',
  'settings.changed': 'never',
  'settlement.swept': 'never',
  'setup_link.created': 'never',
  'wallet.change_approved': 'always',
  'wallet.change_in_force': 'always',
  'wallet.change_requested': 'always',
  'wallet.change_stopped': 'always',
  'wallet.set': 'always',
  'wallet.verified': 'never',
  'webhook.changed': 'always',
  'webhook.created': 'always',
  'webhook.deleted': 'always',
  'webhook.replayed': 'never',
  'webhook.tested': 'never',
};

export const isAnnounced = (act: Act): boolean => {
  const rule = rules[act.action];
  return typeof rule === 'string' ? rule === 'always' : rule(act);
};

/** About wallets, owners and sign-ins: what takes money or an account. Mails of these go first, and none is left out. */
export const isUrgent = (action: AuditAction): boolean => action.startsWith('wallet.') || action.startsWith('person.');

/** What a person does to their own sign-in. A mail goes to that person; mails of all other acts go to those who manage. */
const personalActions: readonly AuditAction[] = [
  'person.passkey_added',
  'person.passkey_removed',
  'person.password_changed',
  'person.recovery_codes_renewed',
  'person.totp_added',
  'person.totp_removed',
];
export const isPersonal = (action: AuditAction): boolean => personalActions.includes(action);

/** The actions that are announced only if they concern an owner. */
export const ofOwners = (Object.keys(rules) as AuditAction[]).filter(action => rules[action] === ofAnOwner);

/** The actions of which some acts are announced. */
export const announcedActions = (Object.keys(rules) as AuditAction[]).filter(action => rules[action] !== 'never');
