import type { Action } from '../../../src/core/dashboard/roles.ts';

/** The rows of the role table in plain words. */
export const actionText: Readonly<Record<Action, string>> = {
  'payments.read': 'See payments and home',
  'payments.export': 'Export payments as CSV',
  'payments.create': 'Create payments by hand',
  'payments.cancel': 'Cancel payments',
  'payments.resolve': 'Accept underpaid and late payments',
  'deliveries.read': 'See webhook deliveries',
  'deliveries.resend': 'Resend and replay deliveries',
  'webhooks.read': 'See webhook endpoints',
  'webhooks.manage': 'Add, change and delete endpoints',
  'secrets.reveal': 'Reveal signing secrets',
  'keys.read': 'See API keys',
  'keys.manage': 'Create, rotate and revoke keys',
  'wallets.read': 'See wallets',
  'wallets.manage': 'Set, change and verify wallets',
  'settlement.read': 'See settlement',
  'settlement.sweep': 'Build and record sweeps',
  'settings.read': 'See settings and branding',
  'settings.manage': 'Change settings and branding',
  'team.read': 'See the team',
  'team.manage': 'Invite, change and remove members',
  'team.owners': 'Make, change and remove owners',
  'audit.read': 'Read the audit log',
};
