/**
 * Who may do what: one table for people and for API keys. The server refuses by it, the app hides by it, and the
 * documentation and the tests are generated from it.
 */

export const roles = ['owner', 'admin', 'developer', 'finance', 'support', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** The permissions that an API key can have. */
export const permissions = [
  'payments:read',
  'payments:write',
  'payments:resolve',
  'webhooks:read',
  'webhooks:write',
] as const;
export type Permission = (typeof permissions)[number];

export const isPermission = (value: string): value is Permission => (permissions as readonly string[]).includes(value);

type Right = {
  readonly roles: readonly Role[];
  /** What a key needs; null if no key can do it. */
  readonly permission: Permission | null;
};

const everybody = roles;
const leaders = ['owner', 'admin'] as const;
const builders = ['owner', 'admin', 'developer'] as const;
const accountants = ['owner', 'admin', 'finance'] as const;
const helpers = ['owner', 'admin', 'developer', 'support'] as const;

export const rights = {
  'payments.read': { roles: everybody, permission: 'payments:read' },
  'payments.export': { roles: ['owner', 'admin', 'developer', 'finance', 'support'], permission: null },
  'payments.create': { roles: builders, permission: 'payments:write' },
  'payments.cancel': { roles: helpers, permission: 'payments:write' },
  'payments.resolve': { roles: ['owner', 'admin', 'finance', 'support'], permission: 'payments:resolve' },
  'deliveries.read': { roles: everybody, permission: 'webhooks:read' },
  'deliveries.resend': { roles: helpers, permission: 'webhooks:write' },
  'webhooks.read': { roles: everybody, permission: 'webhooks:read' },
  'webhooks.manage': { roles: builders, permission: 'webhooks:write' },
  'secrets.reveal': { roles: builders, permission: null },
  'keys.read': { roles: builders, permission: null },
  'keys.manage': { roles: builders, permission: null },
  'wallets.read': { roles: everybody, permission: null },
  'wallets.manage': { roles: leaders, permission: null },
  /** Standing behind a change that another owner asked for. */
  'wallets.approve': { roles: ['owner'], permission: null },
  'settlement.read': { roles: ['owner', 'admin', 'finance', 'viewer'], permission: null },
  'settlement.sweep': { roles: accountants, permission: null },
  'settings.read': { roles: everybody, permission: null },
  'settings.manage': { roles: leaders, permission: null },
  'mail.test': { roles: ['owner'], permission: null },
  'team.read': { roles: everybody, permission: null },
  'team.manage': { roles: leaders, permission: null },
  /** Adding, changing or removing an owner. */
  'team.owners': { roles: ['owner'], permission: null },
  /** Whether scheduled backups succeed. */
  'backups.read': { roles: leaders, permission: null },
  /** Opening production after a restore. */
  'restore.review': { roles: ['owner'], permission: null },
  'audit.read': { roles: accountants, permission: null },
} as const satisfies Record<string, Right>;

export type Action = keyof typeof rights;
export const actions = Object.keys(rights) as Action[];

/** An action that a key can do, if it has the permission. */
export type KeyAction = { [A in Action]: (typeof rights)[A]['permission'] extends null ? never : A }[Action];

export const mayDo = (role: Role, action: Action): boolean => (rights[action].roles as readonly Role[]).includes(role);

export const actionsOf = (role: Role): Action[] => actions.filter(action => mayDo(role, action));

/** A key may do no more than the person who made it: its permissions are those of which they may do every action. */
export const grantable = (role: Role): Permission[] =>
  permissions.filter(permission =>
    actions.every(action => rights[action].permission !== permission || mayDo(role, action)),
  );
