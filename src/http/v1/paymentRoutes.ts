import { nothing } from '../../core/api/fields.ts';
import * as schemas from '../../core/api/payment.ts';
import type { Scope } from '../../core/environment.ts';
import { invalid } from '../../core/errors.ts';
import type { Context } from '../../engine/context.ts';
import { actOnPayment, type MerchantAct } from '../../engine/payments/actOnPayment.ts';
import type { CreatePayment } from '../../engine/payments/createPayment.ts';
import { canonicalAddress } from '../../engine/payments/paymentAddress.ts';
import { printPayment } from '../../engine/payments/paymentObject.ts';
import { readPaymentRow, readShownRow } from '../../engine/payments/readPayment.ts';
import { perform } from '../../engine/perform.ts';
import { listPayments, type PaymentFilter } from '../../storage/payments/listPayments.ts';
import { metadataSource } from '../edge/body.ts';
import { idempotencyOf } from '../edge/idempotencyKey.ts';
import type { Reply } from '../edge/route.ts';
import { type ApiRoute, actingOf, type Call, callerOf, scopeOf } from '../edge/route.ts';
import { parseTime } from '../edge/time.ts';

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

const act = (context: Context, call: Call, asked: MerchantAct): Promise<Reply> =>
  perform(
    context,
    actingOf(call),
    {
      // Not the URL as it was sent: an escaped spelling of the same path is the same route.
      key: idempotencyOf(call, `/v1/payments/${call.params.id}/${asked.kind}`),
      print: ({ row, funds }) => ({ body: printPayment(readPaymentRow(context, row, funds)) }),
    },
    actOnPayment(context, call.params.id!, asked),
  );

export const paymentRoutes = (
  context: Context,
  createPayment: CreatePayment,
  readPayment: (scope: Scope, id: string) => Promise<Buffer>,
): ApiRoute[] => [
  {
    method: 'POST',
    path: '/v1/payments',
    operationId: 'createPayment',
    summary: 'Create a payment request',
    tag: 'Payments',
    access: 'payments.create',
    body: schemas.paymentRequest,
    answer: schemas.payment,
    handle: call => {
      const { metadata: _, ...request } = call.body!.value as schemas.PaymentRequest;
      const metadata = metadataSource(call.body!.text);
      const { trace } = call;
      return createPayment(callerOf(call), { ...request, metadata, trace }, idempotencyOf(call, '/v1/payments'));
    },
  },
  {
    method: 'GET',
    path: '/v1/payments/:id',
    operationId: 'getPayment',
    summary: 'Retrieve a payment',
    tag: 'Payments',
    access: 'payments.read',
    answer: schemas.payment,
    handle: async call => ({ body: await readPayment(scopeOf(call), call.params.id!) }),
  },
  {
    method: 'GET',
    path: '/v1/payments',
    operationId: 'listPayments',
    summary: 'List payments with filters, newest first',
    tag: 'Payments',
    access: 'payments.read',
    query: schemas.paymentQuery,
    answer: schemas.paymentList,
    handle: async call => {
      const query = call.query as schemas.PaymentQuery;
      const { limit = defaultPageLimit, offset = 0 } = query;
      const { rows, total } = await listPayments(context.listDb, scopeOf(call), filterOf(query), { limit, offset });
      return {
        body: renderPage(
          rows.map(row => printPayment(readShownRow(context, row))),
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
    operationId: 'cancelPayment',
    summary: 'Cancel a pending payment that has received nothing',
    tag: 'Payments',
    access: 'payments.cancel',
    body: nothing,
    bodyOptional: true,
    answer: schemas.payment,
    handle: call => act(context, call, { kind: 'cancel' }),
  },
  {
    method: 'POST',
    path: '/v1/payments/:id/resolve',
    operationId: 'resolvePayment',
    summary: 'Accept the amount received as full payment',
    tag: 'Payments',
    access: 'payments.resolve',
    body: schemas.resolveRequest,
    answer: schemas.payment,
    handle: call => {
      const { expectedAmount } = call.body!.value as schemas.ResolveRequest;
      return act(context, call, { kind: 'resolve', ...(expectedAmount === undefined ? {} : { expectedAmount }) });
    },
  },
];
