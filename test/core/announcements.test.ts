import { expect, test } from 'vitest';
import { announcedActions, isAnnounced } from '../../src/core/announcements.ts';
import { auditActions } from '../../src/core/auditActions.ts';
import { environments } from '../../src/core/environment.ts';

const inSandbox = { environment: 'sandbox', detail: {} } as const;

test('signing in, payments and settings are not announced', () => {
  const quiet = auditActions.filter(action => !announcedActions.includes(action));
  expect(quiet).toContain('person.signed_in');
  expect(quiet).toContain('payment.created');
  expect(quiet).toContain('settings.changed');
  for (const action of quiet) {
    for (const environment of [...environments, null]) {
      expect(isAnnounced({ action, environment, detail: { role: 'owner' } }), action).toBe(false);
    }
  }
});

test('wallets, webhooks, secrets and sign-ins always are', () => {
  for (const action of auditActions.filter(each => /^(?:wallet\.(?!verified)|secret\.)/.test(each))) {
    expect(isAnnounced({ action, ...inSandbox }), action).toBe(true);
  }
  for (const action of ['webhook.created', 'webhook.changed', 'webhook.deleted', 'person.password_changed'] as const) {
    expect(isAnnounced({ action, ...inSandbox }), action).toBe(true);
  }
});

test.each(['key.created', 'key.rotated'] as const)('%s is announced in production only', action => {
  expect(isAnnounced({ action, environment: 'production', detail: {} })).toBe(true);
  expect(isAnnounced({ action, ...inSandbox })).toBe(false);
});

test('a member who joins or leaves, or whose role changes, is announced if they are or become an owner', () => {
  const of = (action: 'person.joined' | 'person.removed' | 'person.role_changed', detail: Record<string, unknown>) =>
    isAnnounced({ action, environment: null, detail });
  expect(of('person.joined', { role: 'owner' })).toBe(true);
  expect(of('person.joined', { role: 'admin' })).toBe(false);
  expect(of('person.removed', { role: 'owner' })).toBe(true);
  expect(of('person.removed', { role: 'viewer' })).toBe(false);
  expect(of('person.role_changed', { from: 'owner', to: 'viewer' })).toBe(true);
  expect(of('person.role_changed', { from: 'admin', to: 'owner' })).toBe(true);
  expect(of('person.role_changed', { from: 'admin', to: 'viewer' })).toBe(false);
});
