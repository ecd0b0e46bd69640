import { expect, test } from 'vitest';
import { type AuditAction, auditActions } from '../../src/core/auditActions.ts';
import { auditChoices, auditText } from '../../web/dashboard/audit/auditText.ts';

const sentence = (action: string, detail: Record<string, unknown> = {}, subject: string | null = null): string => {
  const actor = { kind: 'person', id: 'per_1', name: 'Ada' } as const;
  const row = { id: '1', at: '2026-01-01T00:00:00.000Z', environment: null, actor, action, subject, detail };
  return `Ada ${auditText({ ...row, address: null })}`;
};

test('every action of the audit log can be chosen in the filter, by a name of its own', () => {
  expect(auditChoices.map(({ value }) => value).sort()).toEqual([...auditActions].sort());
  expect(new Set(auditChoices.map(({ label }) => label)).size).toBe(auditActions.length);
});

const examples: [AuditAction, Record<string, unknown>, string | null, string][] = [
  ['key.created', { name: 'Shop' }, 'key_1', 'Ada created the API key “Shop”.'],
  ['account.created', { name: 'Acme' }, 'acc_1', 'Ada created the account “Acme”.'],
  ['wallet.change_requested', {}, 'bsc', 'Ada requested a change of the BNB Smart Chain wallet.'],
  [
    'webhook.tested',
    { type: 'payment.late', url: 'https://a.example' },
    'we_1',
    'Ada sent the test event payment.late to https://a.example.',
  ],
  [
    'person.role_changed',
    { email: 'b@a.example', from: 'support', to: 'admin' },
    'per_2',
    'Ada changed the role of b@a.example from Support to Admin.',
  ],
  [
    'person.locked_out',
    { email: 'b@a.example', failures: 5 },
    'per_2',
    'Ada locked out b@a.example after 5 failed attempts.',
  ],
  ['settings.changed', { latePolicy: {}, logo: {} }, null, 'Ada changed settings: late payments, logo.'],
  [
    'settlement.swept',
    { amount: '77.00', currency: 'USDC', network: 'ethereum' },
    'swp_1',
    'Ada sent a sweep of 77.00 USDC on Ethereum.',
  ],
];

test.each(examples)('%s reads as a sentence', (action, detail, subject, expected) => {
  expect(sentence(action, detail, subject)).toBe(expected);
});

test.each(auditActions)('%s is a sentence even without details', action => {
  const text = sentence(action, {}, 'thing');
  expect(text).toMatch(/^Ada [a-z].*\.$/);
  expect(text).not.toMatch(/undefined|null|_/);
});

test('an action of a later version is shown by its own word', () => {
  expect(sentence('moon.landed', {}, 'mon_1')).toBe('Ada did “moon.landed” to mon_1.');
});
