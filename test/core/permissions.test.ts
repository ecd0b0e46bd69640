import { expect, test } from 'vitest';
import { actions, grantable, isPermission, mayDo, permissions, rights, roles } from '../../src/core/access/rights.ts';

test('a permission is one of five', () => {
  expect([...permissions]).toEqual([
    'payments:read',
    'payments:write',
    'payments:resolve',
    'webhooks:read',
    'webhooks:write',
  ]);
  for (const permission of permissions) expect(isPermission(permission)).toBe(true);
  for (const other of ['', 'payments', 'payments:delete', 'PAYMENTS:READ']) expect(isPermission(other)).toBe(false);
});

test('each permission is needed for something', () => {
  const needed = new Set(actions.map(action => rights[action].permission));
  for (const permission of permissions) expect(needed).toContain(permission);
});

test.each(roles)('a key of the role %s can do nothing that its maker may not', role => {
  for (const permission of grantable(role)) {
    const forbidden = actions.filter(action => rights[action].permission === permission && !mayDo(role, action));
    expect([permission, forbidden]).toEqual([permission, []]);
  }
});

test('developers make keys for everything except deciding about money', () => {
  expect(grantable('developer')).toEqual(['payments:read', 'payments:write', 'webhooks:read', 'webhooks:write']);
  expect(grantable('owner')).toEqual([...permissions]);
});
