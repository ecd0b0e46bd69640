import { retryDelaysMs } from '../core/delivery.ts';
import type { Environment } from '../core/environment.ts';
import { type Html, html } from '../core/html.ts';
import { eventTypes, type paymentStatuses } from '../core/payment/states.ts';
import type { permissions } from '../core/permissions.ts';
import { type Plan, plans, rateLimitOf } from '../core/plans.ts';
import { errorTable } from './docsErrors.ts';
import { exampleIds } from './docsExamples.ts';
import { baseUrl, commandOf, curlLines, type DocsPlace, hasOwnAuthority, keyPrefix } from './docsPlace.ts';
import { jsonMarkup } from './docsSchema.ts';

export type Guide = { id: string; title: string; text: Html; sample?: { title: string; code: Html } };

const codes = (values: readonly string[]): Html =>
  html`${values.map((value, i) => [i === 0 ? '' : ', ', html`<code>${value}</code>`])}`;

const permissionMeaning: Readonly<Record<(typeof permissions)[number], string>> = {
  'payments:read': 'Retrieve and list payments and events',
  'payments:write': 'Create, cancel and resolve payments',
  'webhooks:read': 'Retrieve and list webhook endpoints and deliveries',
  'webhooks:write': 'Create, change, test, rotate and delete webhook endpoints; resend and replay',
};

const planRow = (plan: Plan): Html => {
  const account = { plan, rateLimit: null, burst: null };
  const { perMinute, burst } = rateLimitOf(account, plan === 'sandbox' ? 'sandbox' : 'production');
  const usual = plan === 'enterprise' ? ', unless agreed otherwise' : '';
  return html`<tr><th scope="row">${plan[0]!.toUpperCase() + plan.slice(1)}</th><td>${perMinute.toLocaleString(
    'en-US',
  )}${usual}</td><td>${burst.toLocaleString('en-US')}</td></tr>`;
};

export const verification = `import { createHmac, timingSafeEqual } from 'node:crypto';

// body: the bytes as they arrived, not yet parsed.
export function verify(body, headers, secret) {
  const id = headers['webhook-id'];
  const time = headers['webhook-timestamp'];
  const given = headers['webhook-signature'] ?? '';
  const ageSeconds = Math.abs(Date.now() / 1000 - time);
  if (!(ageSeconds <= 300)) return false;

  const key = Buffer.from(secret.slice(6), 'base64');
  const mac = createHmac('sha256', key);
  mac.update(\`\${id}.\${time}.\`).update(body);
  const expected = mac.digest();

  // There are several while secrets are being rotated.
  return given.split(' ').some(signature => {
    const bytes = Buffer.from(signature.slice(3), 'base64');
    return bytes.length === expected.length
      && timingSafeEqual(bytes, expected);
  });
}`;

const eventIn = (environment: Environment): object => ({
  id: exampleIds.event,
  type: 'payment.completed',
  timestamp: '2026-01-15T09:31:12.000Z',
  apiVersion: 'v1',
  environment,
  sequence: 4,
  data: { id: exampleIds.payment, status: 'completed' },
  previous: { status: 'confirming', exception: null },
});

const statusMeaning: Readonly<Record<(typeof paymentStatuses)[number], string>> = {
  pending: 'Waiting for the full amount; part of it may have arrived.',
  confirming: 'The full amount is on chain, not yet final.',
  completed: 'The full amount, or the sum you accepted, is final. Deliver now.',
  expired: 'The time ran out first.',
  canceled: 'You called it off.',
  reversed: 'The chain took back funds of a completed payment.',
};

const definitions = (meanings: Readonly<Record<string, string | Html>>): Html =>
  html`<dl>${Object.entries(meanings).map(([name, said]) => html`<div><dt>${/^[A-Z]/.test(name) ? name : html`<code>${name}</code>`}</dt><dd>${said}</dd></div>`)}</dl>`;

const firstRequest = (place: DocsPlace): Html => {
  const { environment } = place;
  const source = environment === 'sandbox' ? 'The first start prints a sandbox key.' : 'A key of production.';
  const lines = [`# ${source}`, `export FLORIN_KEY=${keyPrefix[environment]}…`];
  if (hasOwnAuthority(place)) lines.push('# In the data directory of Florin.', 'export FLORIN_CA=data/tls/ca.pem');
  const command = [...curlLines(place, '', '/v1/payments'), '-H "Authorization: Bearer $FLORIN_KEY"'];
  return html`${[...lines, '', commandOf(command)].join('\n')}`;
};

const authentication = (place: DocsPlace): Guide => ({
  id: 'authentication',
  title: 'Authentication',
  text: html`<p>Send your API key with every request: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. Keys are secret: keep
them on your server, never in a page or an app. Only HTTPS is served; a request over plain HTTP is refused and nothing is executed.</p>
<p>A key carries permissions. One that lacks what an operation needs is answered <a href="#error-permission_denied">403</a>,
and the message names the permission.</p>${definitions(permissionMeaning)}`,
  sample: { title: 'Your first request', code: firstRequest(place) },
});

const servedAt = (environment: Environment, urls: DocsPlace['urls']): Html =>
  html`<code>${baseUrl({ environment, urls })}</code>, keys begin with <code>${keyPrefix[environment]}</code>`;

const environmentGuide = (place: DocsPlace): Guide => ({
  id: 'environments',
  title: 'Environments',
  text: html`<p>Production and sandbox have an address, keys and data of their own; nothing of one is visible in the other. Going live
changes the key and the address, nothing else.</p>${definitions({
    Sandbox: servedAt('sandbox', place.urls),
    Production: servedAt('production', place.urls),
  })}${
    hasOwnAuthority(place)
      ? html`
<p>On this machine Florin signs its own certificates. <code>--cacert</code> tells curl to trust them; the file is
<code>tls/ca.pem</code> in the data directory. With a certificate of your own you leave it out.</p>`
      : null
  }`,
});

const amountsAndStates: readonly Guide[] = [
  {
    id: 'amounts',
    title: 'Amounts',
    text: html`<p>Amounts are decimal strings in token units, never numbers: <code>"25"</code>, <code>"25.00"</code>,
<code>"0.000001"</code>. Exponents, signs, spaces, separators and more fractional digits than the token has are refused. Answers have
at least two fractional digits and no further trailing zeros. Calculate with a decimal type, not with floating point.</p>`,
  },
  {
    id: 'states',
    title: 'Payment states',
    text: html`<p>A payment's <code>status</code> says where it stands; its <code>exception</code> is null, or says what is unusual:
underpaid, overpaid, late or reorged.</p>${definitions(statusMeaning)}`,
  },
];

const idempotency = (place: DocsPlace): Guide => ({
  id: 'idempotency',
  title: 'Idempotency',
  text: html`<p>Any POST takes an <code>Idempotency-Key</code> of 1 to 255 visible ASCII characters. Within 24 hours the same key
with the same bytes gets the first answer again, marked <code>Idempotent-Replayed: true</code>, and nothing is done twice. So after
a timeout or a 5xx, simply repeat the request. The same key with another body is
<a href="#error-idempotency_mismatch">422</a>. A key that says what it is for, such as your order's number, is best.</p>`,
  sample: {
    title: 'Safe to repeat',
    code: html`${commandOf([
      ...curlLines(place, '', '/v1/payments'),
      '-H "Authorization: Bearer $FLORIN_KEY"',
      "-H 'Idempotency-Key: order-6735'",
      "-H 'Content-Type: application/json'",
      `-d '{
    "amount": "25.00",
    "currency": "USDC",
    "network": "base"
  }'`,
    ])}`,
  },
});

const pagesAndLimits: readonly Guide[] = [
  {
    id: 'pagination',
    title: 'Pagination',
    text: html`<p>Lists are newest first and answer <code>data</code> and <code>pagination</code>. Ask for <code>limit</code> results
(1 to 100, 20 if you do not say) from <code>offset</code> on, while <code>hasMore</code> is true. <code>total</code> is exact,
under the same filters and of the same moment as <code>data</code>.</p>
<p>Events and deliveries have neither total nor offset. Ask for the next page with the <code>nextCursor</code> of the one before as
<code>cursor</code>, and with the same filters: what arrives in between moves nothing.</p>`,
    sample: {
      title: 'Pagination',
      code: html`${jsonMarkup({ pagination: { total: 42, limit: 20, offset: 20, hasMore: true } })}
${jsonMarkup({ pagination: { limit: 20, hasMore: true, nextCursor: exampleIds.event } })}`,
    },
  },
  {
    id: 'rate-limits',
    title: 'Rate limits',
    text: html`<p>Counted per account and environment; more keys do not buy more requests. Answers to authenticated requests carry
<code>X-RateLimit-Limit</code> (a minute), <code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> (Unix seconds).
The burst is an allowance past a Remaining of 0. After that comes <a href="#error-rate_limit_exceeded">429</a> with
<code>Retry-After</code>. Operations without a key: 600 a minute for each client address.</p>
<table class="plain"><caption>Limits by plan</caption>
<thead><tr><th scope="col">Plan</th><th scope="col">Requests a minute</th><th scope="col">Burst</th></tr></thead>
<tbody>${plans.map(planRow)}</tbody></table>`,
  },
];

const retryCount = (environment: Environment): number => retryDelaysMs[environment].length;
const retrySpan = (environment: Environment): string => {
  const minutes = Math.round(retryDelaysMs[environment].reduce((sum, ms) => sum + ms, 0) / 60_000);
  return minutes < 120 ? `about ${minutes} minutes` : `about ${Math.round(minutes / 60)} hours`;
};

const webhookEvents = ({ environment }: DocsPlace): Guide => ({
  id: 'webhook-events',
  title: 'Webhook events',
  text: html`<p>Events are posted to your endpoints and to a payment's <code>callbackUrl</code>, at least once each:
<code>webhook-id</code> is equal on every attempt, so keep it to drop repetitions, and <code>sequence</code> counts up within a
payment. Answer 2xx within 15 seconds and do the work afterwards; redirects count as failures.</p>
<p>What fails is sent again, ${retryCount(environment)} times over ${retrySpan(environment)}, and then parked: it stays in the list of
<a href="#getDeliveries">parked deliveries</a> until it is resent. An answer of 410 disables the endpoint, and so do five days of
nothing but failures. An endpoint that was away gets a range of time again by <a href="#postWebhooksByIdReplay">replay</a>.</p>
<p class="choices">Kinds: ${codes(eventTypes)}</p>`,
  sample: { title: 'An event, with data shortened', code: jsonMarkup(eventIn(environment)) },
});

const verificationAndErrors: readonly Guide[] = [
  {
    id: 'webhook-verification',
    title: 'Verifying webhooks',
    text: html`<p>Webhooks are signed as Standard Webhooks 1.0 says, so its libraries work. The signature is HMAC-SHA-256, keyed with the
base64 part of the endpoint's <code>whsec_</code> secret, over <code>webhook-id</code>, <code>webhook-timestamp</code> and the body,
joined by dots. Verify the raw bytes before parsing them, compare in constant time, and refuse timestamps more than five minutes off.</p>`,
    sample: { title: 'Node.js', code: html`${verification}` },
  },
  {
    id: 'errors',
    title: 'Errors',
    text: html`<p>Every error is JSON of one shape. Decide by <code>code</code>; <code>message</code> is for people and may change.
<code>param</code> is there where one parameter is at fault. Every response carries <code>X-Request-Id</code>.</p>${errorTable()}`,
    sample: {
      title: 'An error',
      code: jsonMarkup({
        error: {
          code: 'invalid_request',
          message: 'amount must be a positive number.',
          param: 'amount',
          requestId: 'req_8sKq0Zr4xWtB00001f',
        },
      }),
    },
  },
];

export const guidesOf = (place: DocsPlace): Guide[] => [
  authentication(place),
  environmentGuide(place),
  ...amountsAndStates,
  idempotency(place),
  ...pagesAndLimits,
  webhookEvents(place),
  ...verificationAndErrors,
];
