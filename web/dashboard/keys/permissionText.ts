import type { Permission } from '../../../src/core/access/rights.ts';

/** What a key with this permission can do. */
export const permissionText: Readonly<Record<Permission, { label: string; hint: string }>> = {
  'payments:read': { label: 'Read payments', hint: 'Look up and list payments and their totals.' },
  'payments:write': { label: 'Create payments', hint: 'Create and cancel payments. A shop needs this one.' },
  'payments:resolve': {
    label: 'Resolve payments',
    hint: 'Accept the amount received as full payment. Most shops decide this in the dashboard.',
  },
  'webhooks:read': { label: 'Read webhooks', hint: 'List endpoints, events and deliveries.' },
  'webhooks:write': {
    label: 'Manage webhooks',
    hint: 'Create, change and delete endpoints, send tests, resend and replay.',
  },
};
