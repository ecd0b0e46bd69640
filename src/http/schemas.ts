import Type, { type Static, type TSchema } from 'typebox';
import { environments } from '../core/environment.ts';
import { errorStatus } from '../core/errors.ts';
import { eventTypes, exceptions, paymentStatuses } from '../core/payment/states.ts';
import { slugs } from '../core/registry/backings.ts';

/** What validates a request is what documents it: the OpenAPI document is made from these. */

const oneOf = <T extends string>(values: readonly T[]) => Type.Enum([...values]);
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** PostgreSQL text cannot hold U+0000. */
const storable = { pattern: '^[^\\u0000]*$' } as const;
const strict = { additionalProperties: false } as const;

const url = (description: string) => Type.String({ maxLength: 2048, format: 'uri', description });
const time = (description: string) => Type.String({ format: 'date-time', description });
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

export const payment = Type.Object({
  id: Type.String({ pattern: '^pay_[0-9a-hjkmnp-tv-z]{26}$' }),
  status: oneOf(paymentStatuses),
  amount: amount('In token units: at least two fractional digits.'),
  currency: Type.String(),
  network: Type.String(),
  address: Type.String({ description: 'Where the payer sends the amount.' }),
  checkoutUrl: Type.String({ format: 'uri' }),
  expiresAt: time('createdAt plus expiresIn.'),
  createdAt: time('UTC, milliseconds.'),
  metadata: Type.Object({}, { additionalProperties: true }),
  environment: oneOf(environments),
  description: nullable(Type.String()),
  callbackUrl: nullable(Type.String()),
  redirectUrl: nullable(Type.String()),
  externalId: nullable(Type.String()),
  amountReceived: amount('Everything that arrived, final or not.'),
  amountConfirmed: amount('What is final.'),
  exception: nullable(oneOf(exceptions)),
  confirmations: Type.Object({
    current: Type.Integer(),
    required: nullable(Type.Integer()),
    rule: oneOf(['finalized', 'safe', 'depth']),
  }),
  transactions: Type.Array(Type.Object({}, { additionalProperties: true })),
  strays: Type.Array(Type.Object({}, { additionalProperties: true })),
  paymentUri: Type.String({ description: 'EIP-681 request for wallets and QR codes.' }),
  completedAt: nullable(time('When it completed.')),
  canceledAt: nullable(time('When it was canceled.')),
});

export const pagination = Type.Object({
  total: Type.Integer({ description: 'Exact, under the same filters and of the same moment as data.' }),
  limit: Type.Integer(),
  offset: Type.Integer(),
  hasMore: Type.Boolean(),
});

const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Results a page.' })),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0, description: 'Results to skip.' }),
  ),
};

export const paymentQuery = Type.Object(
  {
    ...page,
    status: Type.Optional(oneOf(paymentStatuses)),
    from: Type.Optional(Type.String({ maxLength: 64, description: 'Created at or after this ISO 8601 date or time.' })),
    to: Type.Optional(
      Type.String({ maxLength: 64, description: 'Created at or before; a bare date means its whole UTC day.' }),
    ),
    currency: Type.Optional(Type.String({ ...storable, minLength: 1, maxLength: 20 })),
    network: Type.Optional(oneOf(slugs)),
    address: Type.Optional(Type.String({ ...storable, minLength: 1, maxLength: 100 })),
    externalId: Type.Optional(Type.String({ ...storable, minLength: 1, maxLength: 255 })),
  },
  strict,
);
export type PaymentQuery = Static<typeof paymentQuery>;

export const pageQuery = Type.Object(page, strict);
export type PageQuery = Static<typeof pageQuery>;

/** For calls that take no body: an empty object says the same. */
export const nothing = Type.Object({}, strict);

export const resolveRequest = Type.Object({ action: oneOf(['accept']) }, strict);

const subscription = Type.Array(oneOf(['*', ...eventTypes]), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  uniqueItems: true,
  description: 'Event kinds to receive; ["*"] for all.',
});
const note = nullable(Type.String({ ...storable, maxLength: 1000 }));

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
    status: Type.Optional(oneOf(['enabled', 'disabled'])),
  },
  { ...strict, minProperties: 1 },
);
export type EndpointPatchBody = Static<typeof endpointPatch>;

export const endpoint = Type.Object({
  id: Type.String({ pattern: '^we_[0-9a-hjkmnp-tv-z]{26}$' }),
  url: Type.String(),
  events: Type.Array(Type.String()),
  description: nullable(Type.String()),
  status: oneOf(['enabled', 'disabled']),
  disabledReason: nullable(Type.String()),
  secret: Type.Optional(
    Type.String({ description: 'whsec_ and base64; only when the endpoint is created or rotated.' }),
  ),
  createdAt: time('UTC, milliseconds.'),
});

export const testRequest = Type.Object({ type: Type.Optional(oneOf(eventTypes)) }, strict);
export type TestRequestBody = Static<typeof testRequest>;

export const testResult = Type.Object({
  eventId: Type.String(),
  delivered: Type.Boolean(),
  statusCode: nullable(Type.Integer()),
  durationMs: Type.Integer(),
  error: nullable(Type.String()),
});

export const deleted = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

const currency = Type.Object({
  symbol: Type.String(),
  name: Type.String(),
  decimals: Type.Integer(),
  contractAddress: nullable(Type.String()),
  caip19: Type.String(),
  minAmount: Type.String(),
});

export const network = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  family: oneOf(['evm', 'utxo']),
  environment: oneOf(environments),
  status: oneOf(['operational', 'degraded', 'down', 'maintenance']),
  caip2: Type.String(),
  chainId: nullable(Type.Integer()),
  nativeCurrency: Type.String(),
  currencies: Type.Array(currency),
  confirmationsRequired: nullable(Type.Integer()),
  confirmationRule: oneOf(['finalized', 'safe', 'depth']),
  blockTimeSeconds: Type.Number(),
  latestBlock: nullable(Type.Integer()),
  lagSeconds: nullable(Type.Integer()),
  checkedAt: nullable(time('When the status was measured.')),
  explorerUrl: nullable(Type.String()),
});

export const health = Type.Object({ status: oneOf(['ok', 'unavailable']) }, { additionalProperties: true });

export const errorObject = Type.Object({
  error: Type.Object({
    code: oneOf(Object.keys(errorStatus)),
    message: Type.String(),
    param: Type.Optional(Type.String({ description: 'The offending parameter, where one is at fault.' })),
    requestId: Type.String(),
  }),
});

export const listOf = (item: TSchema) => Type.Object({ data: Type.Array(item), pagination });
