import Type, { type Static } from 'typebox';
import { environments } from '../environment.ts';
import { exceptions, paymentStatuses } from '../payment/states.ts';
import { slugs } from '../registry/backings.ts';
import {
  amount,
  choice,
  dateOrTime,
  finalityRule,
  nullable,
  storable,
  strict,
  text,
  time,
  url,
  whole,
} from './fields.ts';
import { listOf, page } from './listPage.ts';

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
export type PaymentRequest = Static<typeof paymentRequest>;

export const resolveRequest = Type.Object(
  {
    action: choice(['accept'], 'accept: the amount received counts as full payment.'),
    expectedAmount: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'The amountReceived that you saw. If it is another by now, the answer is 409 and nothing is accepted.',
        examples: ['12.50'],
      }),
    ),
  },
  strict,
);
export type ResolveRequest = Static<typeof resolveRequest>;

export const transaction = Type.Object({
  hash: nullable(text('Hash of the transaction; null if a contract sent native coin and the transaction is unknown.')),
  from: nullable(text('Address of the sender; null if it is not known.')),
  amount: amount('Amount in token units.'),
  blockNumber: nullable(whole('Block that contains it; null while there is none.')),
  confirmations: whole('Number of blocks since the transfer, including its own.'),
  status: choice(['confirming', 'confirmed'], 'Whether it is final.'),
  explorerUrl: nullable(text('Page of the transaction in a block explorer; null if there is none.')),
});
export type Transaction = Static<typeof transaction>;

export const stray = Type.Object({
  caip2: text('Chain of the transfer, as CAIP-2.'),
  contract: nullable(text('Contract of the token; null for the native currency.')),
  hash: nullable(text('Hash of the transaction; null if it is not known.')),
  amount: text('Amount in token units, or in base units if the token is not listed.'),
});
export type Stray = Static<typeof stray>;

export const confirmations = Type.Object(
  {
    current: whole('Confirmations of the least confirmed transfer that is needed for the amount.'),
    required: nullable(whole('Number of confirmations needed; null if a tag of the chain decides.')),
    rule: finalityRule,
  },
  { description: 'How far the payment is from being final.' },
);

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
  confirmations,
  transactions: Type.Array(transaction, { description: 'Transfers of the requested currency.' }),
  strays: Type.Array(stray, { description: 'Transfers of anything else to the same address.' }),
  paymentUri: text('EIP-681 URI for wallets and QR codes.'),
  completedAt: nullable(time('When the payment completed.')),
  canceledAt: nullable(time('When the payment was canceled.')),
});
export type Payment = Static<typeof payment>;

export const paymentList = listOf(payment);

export const paymentQuery = Type.Object(
  {
    ...page,
    status: Type.Optional(choice(paymentStatuses, 'Only payments with this status.')),
    from: Type.Optional(dateOrTime('Created at or after this ISO 8601 date or time.')),
    to: Type.Optional(dateOrTime('Created at or before. A date without a time means the whole UTC day.')),
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
