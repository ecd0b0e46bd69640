import Type, { type Static } from 'typebox';
import type { Scope } from '../core/environment.ts';
import { invalid } from '../core/errors.ts';
import { cancelPayment, resolvePayment } from '../engine/cancelPayment.ts';
import type { Context } from '../engine/context.ts';
import type { CreatePayment } from '../engine/createPayment.ts';
import { canonicalAddress } from '../engine/paymentAddress.ts';
import { shownPaymentBody } from '../engine/readPayment.ts';
import { listPayments, type PaymentFilter } from '../storage/listPayments.ts';
import { metadataSource } from './body.ts';
import { idempotencyOf } from './idempotencyKey.ts';
import { callerOf, type Route, scopeOf } from './route.ts';
import * as schemas from './schemas.ts';
import { parseTime } from './time.ts';

/** Both ends are inclusive. */
export const timeRange = (query: { from?: string; to?: string }): { fromMs?: number; toMs?: number } => {
  const range = {
    ...(query.from === undefined ? {} : { fromMs: parseTime('from', query.from) }),
    ...(query.to === undefined ? {} : { toMs: parseTime('to', query.to) }),
  };
  if (range.fromMs !== undefined && range.toMs !== undefined && range.fromMs > range.toMs) {
    throw invalid('from', 'from must not be later than to.');
  }
  return range;
};

const filterOf = (query: schemas.PaymentQuery): PaymentFilter => {
  const { status, network, currency, address, externalId } = query;
  return {
    ...(status === undefined ? {} : { status }),
    ...(network === undefined ? {} : { network }),
    ...(currency === undefined ? {} : { currency: /^\w*$/.test(currency) ? currency.toUpperCase() : currency }),
    ...(address === undefined ? {} : { address: canonicalAddress(address) }),
    ...(externalId === undefined ? {} : { externalId }),
    ...timeRange(query),
  };
};

export const renderPage = (items: string[], total: number, limit: number, offset: number): string =>
  `{"data":[${items.join(',')}],"pagination":${JSON.stringify({
    total,
    limit,
    offset,
    hasMore: offset + items.length < total,
  })}}`;

export const defaultPageLimit = 20;

const resolveRequest = Type.Object(
  {
    action: schemas.choice(['accept'], 'accept: the amount received counts as full payment.'),
    expectedAmount: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'The amountReceived that you saw. If it is another by now, the answer is 409 and nothing is accepted.',
        examples: ['12.50'],
      }),
    ),
  },
  schemas.strict,
);

export const paymentRoutes = (
  context: Context,
  createPayment: CreatePayment,
  readPayment: (scope: Scope, id: string) => Promise<Buffer>,
): Route[] => [
  {
    method: 'POST',
    path: '/v1/payments',
    summary: 'Create a payment request',
    tag: 'Payments',
    access: 'payments:write',
    body: schemas.paymentRequest,
    answer: schemas.payment,
    handle: call => {
      const { metadata: _, ...request } = call.body!.value as schemas.PaymentRequestBody;
      const metadata = metadataSource(call.body!.text);
      return createPayment(callerOf(call), { ...request, metadata }, idempotencyOf(call, '/v1/payments'));
    },
  },
  {
    method: 'GET',
    path: '/v1/payments/:id',
    summary: 'Retrieve a payment',
    tag: 'Payments',
    access: 'payments:read',
    answer: schemas.payment,
    handle: async call => ({ body: await readPayment(scopeOf(call), call.params.id!) }),
  },
  {
    method: 'GET',
    path: '/v1/payments',
    summary: 'List payments with filters, newest first',
    tag: 'Payments',
    access: 'payments:read',
    query: schemas.paymentQuery,
    answer: schemas.listOf(schemas.payment),
    handle: async call => {
      const query = call.query as schemas.PaymentQuery;
      const { limit = defaultPageLimit, offset = 0 } = query;
      const { rows, total } = await listPayments(context.listDb, scopeOf(call), filterOf(query), { limit, offset });
      return {
        body: renderPage(
          rows.map(row => shownPaymentBody(context, row)),
          total,
          limit,
          offset,
        ),
      };
    },
  },
  {
    method: 'POST',
    path: '/v1/payments/:id/cancel',
    summary: 'Cancel a pending payment that has received nothing',
    tag: 'Payments',
    access: 'payments:write',
    body: schemas.nothing,
    bodyOptional: true,
    answer: schemas.payment,
    handle: call => cancelPayment(context, scopeOf(call), call.params.id!, idempotencyOf(call, call.request.url)),
  },
  {
    method: 'POST',
    path: '/v1/payments/:id/resolve',
    summary: 'Accept the amount received as full payment',
    tag: 'Payments',
    access: 'payments:write',
    body: resolveRequest,
    answer: schemas.payment,
    handle: call => {
      const { expectedAmount } = call.body!.value as Static<typeof resolveRequest>;
      const request = expectedAmount === undefined ? {} : { expectedAmount };
      return resolvePayment(context, scopeOf(call), call.params.id!, request, idempotencyOf(call, call.request.url));
    },
  },
];
