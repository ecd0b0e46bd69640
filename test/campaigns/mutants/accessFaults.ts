// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import { api, type Fault } from './fault.ts';

const keys: Fault[] = [
  {
    name: 'scopes are not checked',
    file: 'src/http/authenticate.ts',
    find: '!caller.scopes.includes(permission)',
    replace: 'caller.scopes.length === 0',
    tests: api('isolation', 'auth'),
  },
  {
    name: 'one route asks for the wrong scope',
    file: 'src/http/webhookRoutes.ts',
    find: "method: 'DELETE',\n    path: '/v1/webhooks/:id',\n    summary: 'Delete a webhook endpoint',\n    tag: 'Webhooks',\n    access: 'webhooks:write'",
    replace:
      "method: 'DELETE',\n    path: '/v1/webhooks/:id',\n    summary: 'Delete a webhook endpoint',\n    tag: 'Webhooks',\n    access: 'webhooks:read'",
    tests: api('auth', 'isolation'),
  },
  {
    name: 'revoked keys live on',
    file: 'src/http/authenticate.ts',
    find: 'if (caller.revokedAt)',
    replace: 'if (caller.revokedAt && caller.expiresAt)',
    tests: api('auth', 'isolation'),
  },
  {
    name: 'expired keys live on',
    file: 'src/http/authenticate.ts',
    find: 'caller.expiresAt.getTime() <= nowMs()',
    replace: 'caller.expiresAt.getTime() <= 0',
    tests: api('auth', 'authRotation'),
  },
  {
    name: 'revocation takes two seconds',
    file: 'src/engine/callers.ts',
    find: 'freshMs = 500',
    replace: 'freshMs = 2_500',
    tests: api('auth'),
  },
  {
    name: 'the address list is ignored',
    file: 'src/http/authenticate.ts',
    find: 'if (!isAllowedFrom(caller, address)) {',
    replace: 'if (!isAllowedFrom(caller, address) && caller.scopes.length === 0) {',
    tests: api('auth', 'proxies'),
  },
  {
    name: 'keys are good in both environments',
    file: 'src/http/authenticate.ts',
    find: 'key.environment !== environment',
    replace: 'key.environment === undefined',
    tests: api('auth', 'environments'),
  },
  {
    name: 'another tenant can read a payment',
    file: 'src/storage/payments.ts',
    find: 'join payments p using (account_id, environment, id)',
    replace: 'join payments p using (environment, id)',
    tests: api('isolation'),
  },
  {
    name: 'the left-most forwarded hop is the client',
    file: 'src/http/clientAddress.ts',
    find: 'for (let i = hops.length - 1; i >= 0 && isTrusted(address); i--)',
    replace: 'for (let i = 0; i < hops.length && isTrusted(address); i++)',
    tests: api('proxies'),
  },
];

const limits: Fault[] = [
  {
    name: 'the Sandbox plan has 61 requests a minute',
    file: 'src/core/plans.ts',
    find: 'sandbox: { perMinute: 60, burst: 10 }',
    replace: 'sandbox: { perMinute: 61, burst: 10 }',
    tests: api('rateLimits'),
  },
  {
    name: 'the burst is one short',
    file: 'src/core/tokenBucket.ts',
    find: 'tokens: rate.perMinute + rate.burst,',
    replace: 'tokens: rate.perMinute + rate.burst - 1,',
    tests: api('rateLimits'),
  },
  {
    name: 'Remaining counts the burst',
    file: 'src/core/tokenBucket.ts',
    find: 'Math.floor(bucket.tokens - rate.burst)',
    replace: 'Math.floor(bucket.tokens)',
    tests: api('rateLimits'),
  },
  {
    name: 'each key has limits of its own',
    file: 'src/http/authenticate.ts',
    find: 'limiter.take(caller.countedUnder, rate)',
    replace: 'limiter.take(caller.keyId, rate)',
    tests: api('rateLimits'),
  },
  {
    name: 'failing requests are never limited',
    file: 'src/http/authenticate.ts',
    find: 'failureRate: RateLimit = { perMinute: 60,',
    replace: 'failureRate: RateLimit = { perMinute: 6_000,',
    tests: api('rateLimitsByAddress'),
  },
];

const webhooks: Fault[] = [
  {
    name: 'a secret is stored in clear',
    file: 'src/engine/webhookEndpoints.ts',
    find: 'secret: context.vault.seal(secret, endpointSecretContext(scope, id)),\n    createdAt',
    replace: 'secret: Buffer.from(secret),\n    createdAt',
    tests: api('webhooks', 'webhooksDelivery'),
  },
  {
    name: 'a kept answer holds a secret in clear',
    file: 'src/engine/webhookEndpoints.ts',
    find: 'return { body: renderEndpoint(row, secret), secret: true };\n  });\n};\n\nexport const editEndpoint',
    replace: 'return { body: renderEndpoint(row, secret) };\n  });\n};\n\nexport const editEndpoint',
    tests: api('webhooks'),
  },
  {
    name: 'reading an endpoint shows its secret',
    file: 'src/http/webhookRoutes.ts',
    find: 'renderEndpoint(await findEndpoint(context, scopeOf(call), call.params.id!))',
    replace: "renderEndpoint(await findEndpoint(context, scopeOf(call), call.params.id!), 'whsec_')",
    tests: api('webhooks'),
  },
  {
    name: 'the old secret does not sign along',
    file: 'src/engine/webhookEndpoints.ts',
    find: 'return [row.secret, ...overlapping]',
    replace: 'return [row.secret]',
    tests: api('webhooksDelivery'),
  },
  {
    name: 'a deleted endpoint can still be read',
    file: 'src/storage/endpoints.ts',
    find: "const live = 'account_id = $1 and environment = $2 and deleted_at is null'",
    replace: "const live = 'account_id = $1 and environment = $2'",
    tests: api('webhooks'),
  },
  {
    name: 'loopback targets are allowed in production',
    file: 'src/cli/florin.ts',
    find: "environment === 'sandbox' && config.allowLoopbackWebhooks",
    replace: 'config.allowLoopbackWebhooks',
    tests: api('webhooksUrl', 'paymentsRequest'),
  },
];

const answers: Fault[] = [
  {
    name: 'another body replays the first answer',
    file: 'src/engine/idempotency.ts',
    find: '!kept.bodyHash.equals(request.bodyHash)',
    replace: 'kept.bodyHash.length === 0',
    tests: api('idempotency'),
  },
  {
    name: 'a replay is not marked',
    file: 'src/http/server.ts',
    find: 'if (answer.replayed)',
    replace: 'if (answer.replayed === undefined)',
    tests: api('idempotency'),
  },
  {
    name: 'idempotency keys are kept for two days',
    file: 'src/storage/insertPayments.ts',
    find: "excluded.created_at - interval '24 hours'",
    replace: "excluded.created_at - interval '48 hours'",
    tests: api('idempotency'),
  },
  {
    name: 'a wrong method is 404',
    file: 'src/http/refuseUnknown.ts',
    find: "throw new FlorinError('method_not_allowed'",
    replace: "throw new FlorinError('not_found'",
    tests: api('errors'),
  },
  {
    name: 'a large body is refused at 1 MiB only',
    file: 'src/http/body.ts',
    find: 'maximumBytes = 64 * 1024',
    replace: 'maximumBytes = 1024 * 1024',
    tests: api('errors', 'badInput'),
  },
  {
    name: 'duplicate keys are accepted',
    file: 'src/http/body.ts',
    find: 'if (!checked.ok) throw',
    replace: "if (!checked.ok && checked.reason !== 'duplicate_key') throw",
    tests: api('paymentsMetadata', 'badInput'),
  },
  {
    name: 'plain HTTP is served',
    file: 'src/http/listener.ts',
    find: 'const isTls = firstByte === tlsHandshakeByte;',
    replace: 'const isTls = firstByte >= 0;',
    tests: api('environments'),
  },
  {
    name: 'every network is listed in reverse',
    file: 'src/core/registry/networks.ts',
    find: '[...slugs].sort().map',
    replace: '[...slugs].sort().reverse().map',
    tests: api('networks'),
  },
];

export const accessFaults: readonly Fault[] = [...keys, ...limits, ...webhooks, ...answers];
