import { permissionsPolicy } from '../edge/permissionsPolicy.ts';
import type { AnswerHeaders } from '../edge/route.ts';

/** Only the dashboard uses passkeys. */
const permissions = permissionsPolicy('publickey-credentials-create', 'publickey-credentials-get');

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every dashboard response, beside those of every response. */
export const dashboardHeaders: Readonly<AnswerHeaders> = Object.entries({
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': permissions,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}).flat();
