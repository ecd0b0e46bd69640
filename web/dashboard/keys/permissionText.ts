import type { Permission } from '../../../src/core/permissions.ts';

/** What a key with this permission can do. */
export const permissionText: Readonly<Record<Permission, { label: string; hint: string }>> = {
  'payments:read': { label: 'Read payments', hint: 'Look up and list payments and their totals.' },
  'payments:write': { label: 'Create payments', hint: 'Create, cancel and resolve payments. A shop needs this one.' },
  'webhooks:read': { label: 'Read webhooks', hint: 'List endpoints, events and deliveries.' },
  'webhooks:write': {
    label: 'Manage webhooks',
    hint: 'Create, change and delete endpoints, send tests, resend and replay.',
  },
};
