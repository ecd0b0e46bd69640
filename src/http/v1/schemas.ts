import Type, { type Static, type TSchema } from 'typebox';
import { environments } from '../../core/environment.ts';
import { errorStatus } from '../../core/errors.ts';
import { eventTypes, exceptions, paymentStatuses } from '../../core/payment/states.ts';
import { slugs } from '../../core/registry/backings.ts';
import { payerOutcomes } from '../../engine/payments/simulateCheckout.ts';
import { simulatedOutcomes } from '../../engine/payments/simulatePayment.ts';

/** These schemas validate requests, and the OpenAPI document is built from them. */

const oneOf = <T extends string>(values: readonly T[]) => Type.Enum([...values]);
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** PostgreSQL text cannot contain U+0000. */
export const storable = { pattern: '^[^\\u0000]*$' } as const;
export const strict = { additionalProperties: false } as const;

export const text = (description: string) => Type.String({ description });
export const whole = (description: string) => Type.Integer({ description });
export const choice = <T extends string>(values: readonly T[], description: string) =>
  Type.Enum([...values], { description });
const rules = ['finalized', 'safe', 'depth'] as const;

const url = (description: string) => Type.String({ maxLength: 2048, format: 'uri', description });
export const time = (description: string) => Type.String({ format: 'date-time', description });
const amount = (description: string) =>
  Type.String({ pattern: '^[0-9]+\\.[0-9]{2,}$', examples: ['12.50'], description });

export const paymentRequest = Type.Object(
  {
    amount: Type.String({
      maxLength: 100,
      examples: ['25.00'],
      description: 'Amount in token units, as a plain decimal. Must be positive.',
    }),
    currency: Type.String({ maxLength: 100, examples: ['USDC'], description: 'Token symbol; case does not matter.' }),
    network: Type.String({ maxLength: 100, examples: ['base'], description: 'Network slug, as in GET /v1/networks.' }),
    description: Type.Optional(Type.String({ ...storable, maxLength: 1000, description: 'Shown to the payer.' })),
    expiresIn: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_592_000,
        default: 3600,
        description: 'Seconds until the payment expires.',
      }),
    ),
    metadata: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'Your own data, returned exactly as given. At most 16 KiB, nested at most 16 deep.',
        },
      ),
    ),
    callbackUrl: Type.Optional(url('Receives the webhook events of this payment.')),
    redirectUrl: Type.Optional(url('Where the checkout sends the payer after the payment.')),
    externalId: Type.Optional(
      Type.String({
        ...storable,
        minLength: 1,
        maxLength: 255,
        description: 'Your own id, unique within the account and environment.',
      }),
    ),
  },
  strict,
);
export type PaymentRequestBody = Static<typeof paymentRequest>;

const transaction = Type.Object({
  hash: nullable(text('Hash of the transaction; null if a contract sent native coin and the transaction is unknown.')),
  from: nullable(text('Address of the sender; null if it is not known.')),
  amount: amount('Amount in token units.'),
  blockNumber: nullable(whole('Block that contains it; null while there is none.')),
  confirmations: whole('Number of blocks since the transfer, including its own.'),
  status: choice(['confirming', 'confirmed'], 'Whether it is final.'),
  explorerUrl: nullable(text('Page of the transaction in a block explorer; null if there is none.')),
});

const stray = Type.Object({
  caip2: text('Chain of the transfer, as CAIP-2.'),
  contract: nullable(text('Contract of the token; null for the native currency.')),
  hash: nullable(text('Hash of the transaction; null if it is not known.')),
  amount: text('Amount in token units, or in base units if the token is not listed.'),
});

export const payment = Type.Object({
  id: Type.String({ pattern: '^pay_[0-9a-hjkmnp-tv-z]{26}$', description: 'Id of the payment.' }),
  status: choice(paymentStatuses, 'State of the payment.'),
  amount: amount('In token units, with at least two decimal places.'),
  currency: text('Token symbol, in upper case.'),
  network: text('Network slug.'),
  address: text('Address to which the payer sends the amount.'),
  checkoutUrl: Type.String({ format: 'uri', description: 'URL of the checkout page. Send the payer there.' }),
  expiresAt: time('createdAt plus expiresIn.'),
  createdAt: time('UTC, milliseconds.'),
  metadata: Type.Object({}, { additionalProperties: true, description: 'Your own data, exactly as given.' }),
  environment: choice(environments, 'Environment of the payment.'),
  description: nullable(text('Shown to the payer.')),
  callbackUrl: nullable(text('Receives the webhook events of this payment.')),
  redirectUrl: nullable(text('Where the checkout sends the payer after the payment.')),
  externalId: nullable(text('Your own id of the payment.')),
  amountReceived: amount('Total received, final or not.'),
  amountConfirmed: amount('Total that is final.'),
  exception: nullable(choice(exceptions, 'What is unusual about the payment; null if nothing is.')),
  confirmations: Type.Object(
    {
      current: whole('Confirmations of the least confirmed transfer that is needed for the amount.'),
      required: nullable(whole('Number of confirmations needed; null if a tag of the chain decides.')),
      rule: choice(rules, 'What makes a transfer final: a tag of the chain, or a number of blocks.'),
    },
    { description: 'How far the payment is from being final.' },
  ),
  transactions: Type.Array(transaction, { description: 'Transfers of the requested currency.' }),
  strays: Type.Array(stray, { description: 'Transfers of anything else to the same address.' }),
  paymentUri: text('EIP-681 URI for wallets and QR codes.'),
  completedAt: nullable(time('When the payment completed.')),
  canceledAt: nullable(time('When the payment was canceled.')),
});

export const pagination = Type.Object({
  total: Type.Integer({ description: 'Exact number of results with these filters, at the same moment as data.' }),
  limit: whole('Results per page, as requested.'),
  offset: whole('Results skipped, as requested.'),
  hasMore: Type.Boolean({ description: 'Whether there are more results.' }),
});

export const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Results per page.' }),
);
const page = {
  limit,
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0, description: 'Results to skip.' }),
  ),
};

export const paymentQuery = Type.Object(
  {
    ...page,
    status: Type.Optional(choice(paymentStatuses, 'Only payments with this status.')),
    from: Type.Optional(Type.String({ maxLength: 64, description: 'Created at or after this ISO 8601 date or time.' })),
    to: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Created at or before. A date without a time means the whole UTC day.',
      }),
    ),
    currency: Type.Optional(
      Type.String({ ...storable, minLength: 1, maxLength: 20, description: 'Only payments in this token.' }),
    ),
    network: Type.Optional(choice(slugs, 'Only payments on this network.')),
    address: Type.Optional(
      Type.String({ ...storable, minLength: 1, maxLength: 100, description: 'Only the payment with this address.' }),
    ),
    externalId: Type.Optional(
      Type.String({
        ...storable,
        minLength: 1,
        maxLength: 255,
        description: 'Only the payment with this id of yours.',
      }),
    ),
  },
  strict,
);
export type PaymentQuery = Static<typeof paymentQuery>;

export const pageQuery = Type.Object(page, strict);
export type PageQuery = Static<typeof pageQuery>;

/** For calls without a body. An empty object is also accepted. */
export const nothing = Type.Object({}, strict);

const outcome = choice(simulatedOutcomes, 'Outcome to simulate.');
export const simulateRequest = Type.Object({ outcome }, strict);
/** The form of the checkout page. */
export const simulateForm = Type.Object(
  { token: text('Token of the page.'), outcome: choice(payerOutcomes, 'Outcome to simulate.') },
  strict,
);
export const simulated = Type.Object({
  outcome,
  transaction: text('Hash of the transaction on the local chain. For reorg, of the removed transaction.'),
});

const subscription = Type.Array(oneOf(['*', ...eventTypes]), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  uniqueItems: true,
  description: 'Event types to receive; ["*"] for all.',
});
const note = nullable(Type.String({ ...storable, maxLength: 1000, description: 'Your own note.' }));

export const endpointRequest = Type.Object(
  {
    url: url('https: URL that receives the events.'),
    events: Type.Optional(subscription),
    description: Type.Optional(note),
  },
  strict,
);
export type EndpointRequestBody = Static<typeof endpointRequest>;

export const endpointPatch = Type.Object(
  {
    url: Type.Optional(url('https: URL that receives the events.')),
    events: Type.Optional(subscription),
    description: Type.Optional(note),
    status: Type.Optional(choice(['enabled', 'disabled'], 'A disabled endpoint receives only test events.')),
  },
  { ...strict, minProperties: 1 },
);
export type EndpointPatchBody = Static<typeof endpointPatch>;

export const endpoint = Type.Object({
  id: Type.String({ pattern: '^we_[0-9a-hjkmnp-tv-z]{26}$', description: 'Id of the endpoint.' }),
  url: text('https: URL that receives the events.'),
  events: Type.Array(Type.String(), { description: 'Event types it receives; ["*"] for all.' }),
  description: nullable(text('Your own note.')),
  status: choice(['enabled', 'disabled'], 'A disabled endpoint receives only test events.'),
  disabledReason: nullable(text('Why it is disabled; null while it is enabled.')),
  secret: Type.Optional(Type.String({ description: 'whsec_ and base64. Only in the responses to create and rotate.' })),
  createdAt: time('UTC, milliseconds.'),
});

export const testRequest = Type.Object(
  { type: Type.Optional(choice(eventTypes, 'Type of the event to send. Default: webhook.test.')) },
  strict,
);
export type TestRequestBody = Static<typeof testRequest>;

export const testResult = Type.Object({
  eventId: text('Id of the test event. Test events are not stored, so GET /v1/events does not return it.'),
  delivered: Type.Boolean({ description: 'Whether the receiver responded with 2xx.' }),
  statusCode: nullable(whole('Status of the response; null without a response.')),
  durationMs: whole('Duration in milliseconds.'),
  error: nullable(text('Why it failed; null if it was delivered.')),
});

export const deleted = Type.Object({
  id: text('Id of the deleted object.'),
  deleted: Type.Literal(true, { description: 'Always true.' }),
});

const currency = Type.Object({
  symbol: text('Symbol of the currency, as in payments.'),
  name: text('Name of the currency.'),
  decimals: whole('Number of decimal places.'),
  contractAddress: nullable(text('Contract of the token; null for the native currency.')),
  caip19: text('The asset as CAIP-19.'),
  minAmount: text('Smallest amount of a payment, in token units.'),
});

export const network = Type.Object({
  slug: text('Slug of the network, as in payments.'),
  name: text('Name of the chain in this environment.'),
  family: choice(['evm', 'utxo'], 'Kind of chain.'),
  environment: choice(environments, 'Environment of this API.'),
  status: choice(
    ['operational', 'degraded', 'down', 'maintenance'],
    'Measured status. While it is down or maintenance, no payments can be created.',
  ),
  caip2: text('The chain as CAIP-2.'),
  chainId: nullable(whole('Chain id; null if the family has none.')),
  nativeCurrency: text('Symbol of the currency that fees are paid in.'),
  currencies: Type.Array(currency, { description: 'Currencies that payments can use.' }),
  confirmationsRequired: nullable(whole('Number of blocks required; null if only the tag decides.')),
  confirmationRule: choice(rules, 'What makes a transfer final: a tag of the chain, or a number of blocks.'),
  blockTimeSeconds: Type.Number({ description: 'Usual time between two blocks.' }),
  latestBlock: nullable(whole('Newest known block; null if there is none.')),
  lagSeconds: nullable(whole('Age of that block at checkedAt; null if it is not known.')),
  checkedAt: nullable(time('When the status was measured.')),
  explorerUrl: nullable(text('Block explorer of the chain; null if there is none.')),
});

export const health = Type.Object(
  { status: choice(['ok', 'unavailable'], 'Result of the check.') },
  { additionalProperties: true },
);

export const errorObject = Type.Object({
  error: Type.Object({
    code: choice(Object.keys(errorStatus), 'Error code, for programs.'),
    message: text('Error message, for people.'),
    param: Type.Optional(Type.String({ description: 'Name of the wrong parameter, if there is one.' })),
    requestId: text('Id of the request, also in the log and in X-Request-Id.'),
  }),
});

export const listOf = (item: TSchema) => Type.Object({ data: Type.Array(item), pagination });
