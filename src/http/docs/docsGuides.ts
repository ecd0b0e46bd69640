import type { permissions } from '../../core/access/rights.ts';
import { retryDelaysMs } from '../../core/delivery.ts';
import type { Environment } from '../../core/environment.ts';
import { type Html, html } from '../../core/html.ts';
import { eventTypes, type paymentStatuses } from '../../core/payment/states.ts';
import { type Plan, plans, rateLimitOf } from '../../core/plans.ts';
import { errorTable } from './docsErrors.ts';
import { exampleIds } from './docsExamples.ts';
import { baseUrl, commandOf, curlLines, type DocsPlace, hasOwnAuthority, keyPrefix } from './docsPlace.ts';
import { jsonMarkup } from './docsSchema.ts';

export type Guide = { id: string; title: string; text: Html; sample?: { title: string; code: Html } };

const codes = (values: readonly string[]): Html =>
  html`${values.map((value, i) => [i === 0 ? '' : ', ', html`<code>${value}</code>`])}`;

const permissionMeaning: Readonly<Record<(typeof permissions)[number], string>> = {
  'payments:read': 'Retrieve and list payments and events',
  'payments:write': 'Create and cancel payments',
  'payments:resolve': 'Accept the amount received as full payment',
  'webhooks:read': 'Retrieve and list webhook endpoints and deliveries',
  'webhooks:write': 'Create, change, test, rotate and delete webhook endpoints; resend and replay',
};

const planRow = (plan: Plan): Html => {
  const account = { plan, rateLimit: null, burst: null };
  const { perMinute, burst } = rateLimitOf(account, plan === 'sandbox' ? 'sandbox' : 'production');
  const usual = plan === 'enterprise' ? ' (default)' : '';
  return html`<tr><th scope="row">${plan[0]!.toUpperCase() + plan.slice(1)}</th><td>${perMinute.toLocaleString(
    'en-US',
  )}${usual}</td><td>${burst.toLocaleString('en-US')}</td></tr>`;
};

export const verification = `import { createHmac, timingSafeEqual } from 'node:crypto';

// body: the raw bytes, before parsing.
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

  // While a secret is being rotated, there are several signatures.
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
  pending: 'Waiting for the full amount. A part of it may have arrived.',
  confirming: 'The full amount has arrived, but is not final yet.',
  completed: 'The full amount, or the amount you accepted, is final. Deliver the goods.',
  expired: 'The full amount did not arrive before expiresAt.',
  canceled: 'You canceled the payment.',
  reversed: 'The payment was completed, then the network removed its funds in a reorganization.',
};

const definitions = (meanings: Readonly<Record<string, string | Html>>): Html =>
  html`<dl>${Object.entries(meanings).map(([name, said]) => html`<div><dt>${/^[A-Z]/.test(name) ? name : html`<code>${name}</code>`}</dt><dd>${said}</dd></div>`)}</dl>`;

const firstRequest = (place: DocsPlace): Html => {
  const { environment } = place;
  const source = environment === 'sandbox' ? 'From the first start, or the dashboard.' : 'From the dashboard.';
  const lines = [`# ${source}`, `export FLORIN_KEY=${keyPrefix[environment]}…`];
  if (hasOwnAuthority(place)) lines.push('# In the folder where Florin runs.', 'export FLORIN_CA=data/tls/ca.pem');
  const command = [...curlLines(place, '', '/v1/payments'), '-H "Authorization: Bearer $FLORIN_KEY"'];
  return html`${[...lines, '', commandOf(command)].join('\n')}`;
};

const authentication = (place: DocsPlace): Guide => ({
  id: 'authentication',
  title: 'Authentication',
  text: html`<p>Send your API key with every request: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. Keep
keys secret: store them on your server, never in a web page or an app. Use HTTPS. Florin refuses requests over plain HTTP and does
not execute them.</p>
<p>Each key has permissions. If a request needs a permission that its key does not have, the response is
<a href="#error-permission_denied">403</a>, and the message names the permission.</p>${definitions(permissionMeaning)}`,
  sample: { title: 'Your first request', code: firstRequest(place) },
});

const servedAt = (environment: Environment, urls: DocsPlace['urls']): Html =>
  html`<code>${baseUrl({ environment, urls })}</code>. Keys begin with <code>${keyPrefix[environment]}</code>`;

const environmentGuide = (place: DocsPlace): Guide => ({
  id: 'environments',
  title: 'Environments',
  text: html`<p>Production and sandbox have separate addresses, keys and data. To go live, change the key and the address. Nothing else
changes.</p>${definitions({
    Sandbox: servedAt('sandbox', place.urls),
    Production: servedAt('production', place.urls),
  })}${
    hasOwnAuthority(place)
      ? html`
<p>This Florin uses its own certificate authority. <code>--cacert</code> makes curl trust it; the file is
<code>tls/ca.pem</code> in the data directory. To make your browser trust it, run <code>npx florin trust</code>. With a certificate
of your own, leave <code>--cacert</code> out.</p>`
      : null
  }`,
});

const amountsAndStates: readonly Guide[] = [
  {
    id: 'amounts',
    title: 'Amounts',
    text: html`<p>Amounts are strings in units of the token, not numbers: <code>"25"</code>, <code>"25.00"</code>,
<code>"0.000001"</code>. Exponents, signs, spaces, thousands separators and more decimal places than the token has are invalid.
Amounts in responses have at least two decimal places. Calculate with a decimal type, not with floating point.</p>`,
  },
  {
    id: 'states',
    title: 'Payment states',
    text: html`<p><code>status</code> is the state of a payment. <code>exception</code> is <code>null</code>, <code>underpaid</code>,
<code>overpaid</code>, <code>late</code> or <code>reorged</code>.</p>${definitions(statusMeaning)}
<p>Very small sums are dust: less than 0.01 of a stablecoin, and less than 1 % of the amount. Dust is part of
<code>amountReceived</code>, but it is no exception, sends no event and does not prevent a cancellation.</p>
<p>Late tokens complete an expired payment. Late native coin waits for your decision, because its price may have changed: accept it
with the resolve call. With <code>expectedAmount</code>, nothing is accepted if another sum has arrived since you looked.</p>`,
  },
];

const idempotency = (place: DocsPlace): Guide => ({
  id: 'idempotency',
  title: 'Idempotency',
  text: html`<p>Every POST accepts an <code>Idempotency-Key</code> header of 1 to 255 visible ASCII characters. If you repeat a request
with the same key and the same body within 24 hours, you get the first response again, with the header
<code>Idempotent-Replayed: true</code>, and nothing is done twice. After a timeout or a 5xx, repeat the request. The same key with a
different body returns <a href="#error-idempotency_mismatch">422</a>. Use a key with a meaning, such as your order number.</p>`,
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
    text: html`<p>Lists start with the newest result and have <code>data</code> and <code>pagination</code>. <code>limit</code> is the
number of results (1 to 100, default 20), and <code>offset</code> is the first one. There are more while <code>hasMore</code> is true.
<code>total</code> is the exact number of results with the same filters.</p>
<p>Lists of events and deliveries have a cursor instead of <code>total</code> and <code>offset</code>. To get the next page, send
<code>nextCursor</code> as <code>cursor</code> with the same filters. New entries do not shift the pages.</p>`,
    sample: {
      title: 'Pagination',
      code: html`${jsonMarkup({ pagination: { total: 42, limit: 20, offset: 20, hasMore: true } })}
${jsonMarkup({ pagination: { limit: 20, hasMore: true, nextCursor: exampleIds.event } })}`,
    },
  },
  {
    id: 'rate-limits',
    title: 'Rate limits',
    text: html`<p>Limits apply per account and environment. All keys of an account share them. Responses to requests with a key have the
headers <code>X-RateLimit-Limit</code> (per minute), <code>X-RateLimit-Remaining</code> and <code>X-RateLimit-Reset</code> (Unix
seconds). When <code>Remaining</code> is 0, you can still send as many requests as the burst allows. After that, the response is
<a href="#error-rate_limit_exceeded">429</a> with <code>Retry-After</code>. Requests without a key: 600 per minute and IP address.</p>
<table class="plain"><caption>Limits by plan</caption>
<thead><tr><th scope="col">Plan</th><th scope="col">Requests per minute</th><th scope="col">Burst</th></tr></thead>
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
  text: html`<p>Florin sends each event by POST to your endpoints and to the <code>callbackUrl</code> of the payment, at least once.
Store <code>data.id</code>, <code>type</code> and <code>sequence</code>, and ignore events you already have. The event id is the same on
every attempt, but after a restore from a backup events may repeat under new ids. <code>sequence</code> increases with each event of a payment. Respond with 2xx within 15 seconds, and process the event afterwards. A redirect counts as a failure.</p>
<p>Florin retries a failed delivery ${retryCount(environment)} times over ${retrySpan(environment)}. Then it gives up: the status
becomes <code>parked</code>, and the delivery stays in <a href="#listParkedDeliveries">this list</a> until you resend it. Florin disables an endpoint that responds with 410, or
that fails for five days without one success. To send all events of a time range again, use
<a href="#replayWebhook">replay</a>.</p>
<p class="choices">Event types: ${codes(eventTypes)}</p>`,
  sample: { title: 'An event (data is shortened)', code: jsonMarkup(eventIn(environment)) },
});

const verificationAndErrors: readonly Guide[] = [
  {
    id: 'webhook-verification',
    title: 'Verifying webhooks',
    text: html`<p>Signatures follow Standard Webhooks 1.0, so you can use its libraries. The signature is an HMAC-SHA-256 of
<code>webhook-id</code>, <code>webhook-timestamp</code> and the body, joined by dots. The key is the base64 part of the
<code>whsec_</code> secret of the endpoint. Verify the raw bytes before you parse them, compare in constant time, and reject timestamps
that differ from your clock by more than five minutes.</p>`,
    sample: { title: 'Node.js', code: html`${verification}` },
  },
  {
    id: 'errors',
    title: 'Errors',
    text: html`<p>All errors have the same JSON format. Use <code>code</code> in your program; <code>message</code> is for people and may
change. <code>param</code> names the wrong parameter, if there is one. Every response has the header <code>X-Request-Id</code>.</p>${errorTable()}`,
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
