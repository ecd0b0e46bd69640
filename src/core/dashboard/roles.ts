/**
 * Who may do what in the dashboard. The server enforces this table, the app hides actions by it, and tests are
 * generated from it.
 */

export const roles = ['owner', 'admin', 'developer', 'finance', 'support', 'viewer'] as const;
export type Role = (typeof roles)[number];

const everybody = roles;
const leaders = ['owner', 'admin'] as const;
const builders = ['owner', 'admin', 'developer'] as const;
const accountants = ['owner', 'admin', 'finance'] as const;

export const actionRoles = {
  'payments.read': everybody,
  'payments.export': ['owner', 'admin', 'developer', 'finance', 'support'],
  'payments.create': builders,
  'payments.cancel': ['owner', 'admin', 'developer', 'support'],
  'payments.resolve': ['owner', 'admin', 'finance', 'support'],
  'deliveries.read': everybody,
  'deliveries.resend': ['owner', 'admin', 'developer', 'support'],
  'webhooks.read': everybody,
  'webhooks.manage': builders,
  'secrets.reveal': builders,
  'keys.read': builders,
  'keys.manage': builders,
  'wallets.read': everybody,
  'wallets.manage': leaders,
  'settlement.read': ['owner', 'admin', 'finance', 'viewer'],
  'settlement.sweep': accountants,
  'settings.read': everybody,
  'settings.manage': leaders,
  'team.read': everybody,
  'team.manage': leaders,
  /** Adding, changing or removing an owner. */
  'team.owners': ['owner'],
  'audit.read': accountants,
} as const satisfies Record<string, readonly Role[]>;

export type Action = keyof typeof actionRoles;

export const mayDo = (role: Role, action: Action): boolean => (actionRoles[action] as readonly Role[]).includes(role);

export const actionsOf = (role: Role): Action[] =>
  (Object.keys(actionRoles) as Action[]).filter(action => mayDo(role, action));
