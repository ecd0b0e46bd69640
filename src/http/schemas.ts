import Type, { type Static, type TSchema } from 'typebox';
import { environments } from '../core/environment.ts';
import { errorStatus } from '../core/errors.ts';
import { eventTypes, exceptions, paymentStatuses } from '../core/payment/states.ts';
import { slugs } from '../core/registry/backings.ts';
import { payerOutcomes } from '../engine/simulateCheckout.ts';
import { simulatedOutcomes } from '../engine/simulatePayment.ts';

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
    callbackUrl: Type.Optional(url('Gets the webhook events of this payment.')),
    redirectUrl: Type.Optional(url('Where the checkout sends the payer afterwards.')),
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
  hash: nullable(text('Hash of the transaction; null where a contract sent native coin and it is not known which.')),
  from: nullable(text('Address that sent it; null where it is not known.')),
  amount: amount('What it brought, in token units.'),
  blockNumber: nullable(whole('Block that it is in; null while it is in none.')),
  confirmations: whole('Blocks on top of it, its own included.'),
  status: choice(['confirming', 'confirmed'], 'Whether it is final.'),
  explorerUrl: nullable(text('Its page in a block explorer; null where there is none.')),
});

const stray = Type.Object({
  caip2: text('Chain on which it arrived, in CAIP-2 form.'),
  contract: nullable(text('Contract of the token; null for the native currency.')),
  hash: nullable(text('Hash of the transaction; null where it is not known.')),
  amount: text('What arrived, in token units; in base units where the token is not listed.'),
});

export const payment = Type.Object({
  id: Type.String({ pattern: '^pay_[0-9a-hjkmnp-tv-z]{26}$', description: 'Names the payment.' }),
  status: choice(paymentStatuses, 'Where the payment stands.'),
  amount: amount('In token units: at least two fractional digits.'),
  currency: text('Token symbol, in upper case.'),
  network: text('Network slug.'),
  address: text('Where the payer sends the amount.'),
  checkoutUrl: Type.String({ format: 'uri', description: 'Where to send the payer.' }),
  expiresAt: time('createdAt plus expiresIn.'),
  createdAt: time('UTC, milliseconds.'),
  metadata: Type.Object({}, { additionalProperties: true, description: 'Your own data, as it was given.' }),
  environment: choice(environments, 'Where it was created.'),
  description: nullable(text('Shown to the payer.')),
  callbackUrl: nullable(text('Gets the webhook events of this payment.')),
  redirectUrl: nullable(text('Where the checkout sends the payer afterwards.')),
  externalId: nullable(text('Your own id for it.')),
  amountReceived: amount('Everything that arrived, final or not.'),
  amountConfirmed: amount('What is final.'),
  exception: nullable(choice(exceptions, 'What is out of the ordinary; null where nothing is.')),
  confirmations: Type.Object(
    {
      current: whole('Confirmations of the least confirmed transfer that is needed for the amount.'),
      required: nullable(whole("How many are needed; null where the chain's own tag decides.")),
      rule: choice(rules, 'What makes a transfer final: a tag of the chain, or a number of blocks.'),
    },
    { description: 'How far the payment is from being final.' },
  ),
  transactions: Type.Array(transaction, { description: 'Transfers of the currency asked for.' }),
  strays: Type.Array(stray, { description: 'Transfers of anything else to the same address.' }),
  paymentUri: text('EIP-681 request for wallets and QR codes.'),
  completedAt: nullable(time('When it completed.')),
  canceledAt: nullable(time('When it was canceled.')),
});

export const pagination = Type.Object({
  total: Type.Integer({ description: 'Exact, under the same filters and of the same moment as data.' }),
  limit: whole('Results a page, as asked for.'),
  offset: whole('Results skipped, as asked for.'),
  hasMore: Type.Boolean({ description: 'Whether there are results after these.' }),
});

export const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Results a page.' }),
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
    status: Type.Optional(choice(paymentStatuses, 'Only payments that stand here.')),
    from: Type.Optional(Type.String({ maxLength: 64, description: 'Created at or after this ISO 8601 date or time.' })),
    to: Type.Optional(
      Type.String({ maxLength: 64, description: 'Created at or before; a bare date means its whole UTC day.' }),
    ),
    currency: Type.Optional(
      Type.String({ ...storable, minLength: 1, maxLength: 20, description: 'Only payments in this token.' }),
    ),
    network: Type.Optional(choice(slugs, 'Only payments on this network.')),
    address: Type.Optional(
      Type.String({ ...storable, minLength: 1, maxLength: 100, description: 'Only the payment with this address.' }),
    ),
    externalId: Type.Optional(
      Type.String({ ...storable, minLength: 1, maxLength: 255, description: 'Only the payment with your id.' }),
    ),
  },
  strict,
);
export type PaymentQuery = Static<typeof paymentQuery>;

export const pageQuery = Type.Object(page, strict);
export type PageQuery = Static<typeof pageQuery>;

/** For calls without a body. An empty object is also accepted. */
export const nothing = Type.Object({}, strict);

const outcome = choice(simulatedOutcomes, 'What shall happen.');
export const simulateRequest = Type.Object({ outcome }, strict);
/** The form of the checkout page. */
export const simulateForm = Type.Object(
  { token: text('Of this payment.'), outcome: choice(payerOutcomes, 'What happens.') },
  strict,
);
export const simulated = Type.Object({
  outcome,
  transaction: text('Hash of the transaction on the local chain; of the one that was taken back, for a reorg.'),
});

export const resolveRequest = Type.Object(
  { action: choice(['accept'], 'accept takes the sum received so far for the whole.') },
  strict,
);

const subscription = Type.Array(oneOf(['*', ...eventTypes]), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  uniqueItems: true,
  description: 'Event kinds to receive; ["*"] for all.',
});
const note = nullable(Type.String({ ...storable, maxLength: 1000, description: 'A note of your own.' }));

export const endpointRequest = Type.Object(
  {
    url: url('https: address that receives the events.'),
    events: Type.Optional(subscription),
    description: Type.Optional(note),
  },
  strict,
);
export type EndpointRequestBody = Static<typeof endpointRequest>;

export const endpointPatch = Type.Object(
  {
    url: Type.Optional(url('https: address that receives the events.')),
    events: Type.Optional(subscription),
    description: Type.Optional(note),
    status: Type.Optional(choice(['enabled', 'disabled'], 'A disabled endpoint gets test calls only.')),
  },
  { ...strict, minProperties: 1 },
);
export type EndpointPatchBody = Static<typeof endpointPatch>;

export const endpoint = Type.Object({
  id: Type.String({ pattern: '^we_[0-9a-hjkmnp-tv-z]{26}$', description: 'Names the endpoint.' }),
  url: text('https: address that receives the events.'),
  events: Type.Array(Type.String(), { description: 'Event kinds it receives; ["*"] for all.' }),
  description: nullable(text('A note of your own.')),
  status: choice(['enabled', 'disabled'], 'A disabled endpoint gets test calls only.'),
  disabledReason: nullable(text('Why it is disabled; null while it is not.')),
  secret: Type.Optional(
    Type.String({ description: 'whsec_ and base64; only when the endpoint is created or rotated.' }),
  ),
  createdAt: time('UTC, milliseconds.'),
});

export const testRequest = Type.Object(
  { type: Type.Optional(choice(eventTypes, 'Kind of the event to send; webhook.test when left out.')) },
  strict,
);
export type TestRequestBody = Static<typeof testRequest>;

export const testResult = Type.Object({
  eventId: text('Id of the event that was sent. A test is not kept: GET /v1/events does not know it.'),
  delivered: Type.Boolean({ description: 'Whether the receiver answered with success.' }),
  statusCode: nullable(whole('What the receiver answered; null where it did not.')),
  durationMs: whole('How long it took, in milliseconds.'),
  error: nullable(text('Why it was not delivered; null where it was.')),
});

export const deleted = Type.Object({
  id: text('What was deleted.'),
  deleted: Type.Literal(true, { description: 'That it was.' }),
});

const currency = Type.Object({
  symbol: text('What payments call it.'),
  name: text('Its name.'),
  decimals: whole('Fractional digits that it has.'),
  contractAddress: nullable(text('Contract of the token; null for the native currency.')),
  caip19: text('The asset in CAIP-19 form.'),
  minAmount: text('The smallest amount a payment may ask for, in token units.'),
});

export const network = Type.Object({
  slug: text('What payments call the network.'),
  name: text('Name of the chain behind it in this environment.'),
  family: choice(['evm', 'utxo'], 'Kind of chain.'),
  environment: choice(environments, 'Environment that was asked.'),
  status: choice(
    ['operational', 'degraded', 'down', 'maintenance'],
    'As measured. Payments are created unless it is down or in maintenance.',
  ),
  caip2: text('The chain in CAIP-2 form.'),
  chainId: nullable(whole('Chain id; null where the family has none.')),
  nativeCurrency: text('Symbol of the currency that fees are paid in.'),
  currencies: Type.Array(currency, { description: 'What payments may ask for here.' }),
  confirmationsRequired: nullable(whole('Blocks asked for; null where the tag alone decides.')),
  confirmationRule: choice(rules, 'What makes a transfer final: a tag of the chain, or a number of blocks.'),
  blockTimeSeconds: Type.Number({ description: 'Usual time between two blocks.' }),
  latestBlock: nullable(whole('Newest block that was seen; null where none was.')),
  lagSeconds: nullable(whole('Age of that block when it was measured; null where it is not known.')),
  checkedAt: nullable(time('When the status was measured.')),
  explorerUrl: nullable(text('A block explorer of the chain; null where there is none.')),
});

export const health = Type.Object(
  { status: choice(['ok', 'unavailable'], 'How it is.') },
  { additionalProperties: true },
);

export const errorObject = Type.Object({
  error: Type.Object({
    code: choice(Object.keys(errorStatus), 'What went wrong, for programs.'),
    message: text('What went wrong, for people.'),
    param: Type.Optional(Type.String({ description: 'The offending parameter, where one is at fault.' })),
    requestId: text('Names this request in the log; also in X-Request-Id.'),
  }),
});

export const listOf = (item: TSchema) => Type.Object({ data: Type.Array(item), pagination });
