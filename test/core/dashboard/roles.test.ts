import { expect, test } from 'vitest';
import { type Action, actions, actionsOf, mayDo, type Role, rights, roles } from '../../../src/core/access/rights.ts';

/** The table of roles the other way round: what each of them may not do. */
const forbidden: Readonly<Record<Role, readonly Action[]>> = {
  owner: [],
  admin: ['wallets.approve', 'mail.test', 'team.owners', 'restore.review'],
  developer: [
    'payments.resolve', 'wallets.manage', 'wallets.approve', 'settlement.read', 'settlement.sweep', 'settings.manage', 'mail.test', 'team.manage',
    'team.owners', 'backups.read', 'restore.review', 'audit.read',
  ],
  finance: [
    'payments.create', 'payments.cancel', 'deliveries.resend', 'webhooks.manage', 'secrets.reveal', 'keys.read', 'keys.manage',
    'wallets.manage', 'wallets.approve', 'settings.manage', 'mail.test', 'team.manage', 'team.owners', 'backups.read', 'restore.review',
  ],
  support: [
    'payments.create', 'webhooks.manage', 'secrets.reveal', 'keys.read', 'keys.manage', 'wallets.manage', 'wallets.approve',
    'settlement.read', 'settlement.sweep', 'settings.manage', 'mail.test', 'team.manage', 'team.owners', 'backups.read', 'restore.review', 'audit.read',
  ],
  viewer: [
    'payments.export', 'payments.create', 'payments.cancel', 'payments.resolve', 'deliveries.resend', 'webhooks.manage',
    'secrets.reveal', 'keys.read', 'keys.manage', 'wallets.manage', 'wallets.approve', 'settlement.sweep', 'settings.manage', 'mail.test',
    'team.manage', 'team.owners', 'backups.read', 'restore.review', 'audit.read',
  ],
}; // biome-ignore format: lists

test.each(roles)('the role %s may do everything but what is listed', role => {
  expect(actions.filter(action => !mayDo(role, action))).toEqual(forbidden[role]);
  expect(actionsOf(role)).toEqual(actions.filter(action => !forbidden[role].includes(action)));
});

test('every role is one of the table, and only those', () => {
  expect(roles).toEqual(Object.keys(forbidden));
  for (const action of actions) for (const role of rights[action].roles) expect(roles).toContain(role);
});
