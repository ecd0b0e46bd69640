import type { Action } from '../../../src/core/access/rights.ts';

/** The rows of the role table in plain words. */
export const actionText: Readonly<Record<Action, string>> = {
  'payments.read': 'View payments and home',
  'payments.export': 'Export payments as CSV',
  'payments.create': 'Create payments in the dashboard',
  'payments.cancel': 'Cancel payments',
  'payments.resolve': 'Accept underpaid and late payments',
  'deliveries.read': 'View webhook deliveries',
  'deliveries.resend': 'Resend and replay deliveries',
  'webhooks.read': 'View webhook endpoints',
  'webhooks.manage': 'Add, change and delete endpoints',
  'secrets.reveal': 'Reveal signing secrets',
  'keys.read': 'View API keys',
  'keys.manage': 'Create, rotate and revoke keys',
  'wallets.read': 'View wallets',
  'wallets.manage': 'Set, change and verify wallets',
  'wallets.approve': 'Approve wallet changes of another owner',
  'settlement.read': 'View settlement',
  'settlement.sweep': 'Build and record sweeps',
  'settings.read': 'View settings and branding',
  'settings.manage': 'Change settings and branding',
  'mail.test': 'Send a test e-mail to oneself',
  'team.read': 'View the team',
  'team.manage': 'Invite, change and remove members',
  'team.owners': 'Add, change and remove owners',
  'audit.read': 'View the audit log',
};
