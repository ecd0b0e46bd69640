import { randomBytes } from 'node:crypto';

/** A signing secret in the form of Standard Webhooks. */
export const generateWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
