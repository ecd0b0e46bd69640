import { randomBytes } from 'node:crypto';

/** A signing secret in the Standard Webhooks format. */
export const generateWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
