/** The permissions that an API key can have. */
export const permissions = ['payments:read', 'payments:write', 'webhooks:read', 'webhooks:write'] as const;
export type Permission = (typeof permissions)[number];

export const isPermission = (value: string): value is Permission => (permissions as readonly string[]).includes(value);
