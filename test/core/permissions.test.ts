import { expect, test } from 'vitest';
import { isPermission, permissions } from '../../src/core/permissions.ts';

test('a permission is one of four', () => {
  expect([...permissions].sort()).toEqual(['payments:read', 'payments:write', 'webhooks:read', 'webhooks:write']);
  for (const permission of permissions) expect(isPermission(permission)).toBe(true);
  for (const other of ['', 'payments', 'payments:delete', 'PAYMENTS:READ']) expect(isPermission(other)).toBe(false);
});
