import { type Static, Type } from 'typebox';
import { type MoneyApi, type PaymentObject, wrongToken } from '../../core/dashboard/moneyApi.ts';
import type { Scope } from '../../core/environment.ts';
import { exceptions, paymentStatuses } from '../../core/payment/states.ts';
import { slugs } from '../../core/registry/backings.ts';
import type { Context } from '../../engine/context.ts';
import { csvOfPayments, recordExport } from '../../engine/dashboard/exportPayments.ts';
import { actOnPaymentAs, createPaymentAs, simulatePaymentAs } from '../../engine/dashboard/paymentActions.ts';
import { readPaymentTimeline } from '../../engine/dashboard/paymentTimeline.ts';
import { isStillAllowed } from '../../engine/dashboard/sessions.ts';
import { canonicalAddress } from '../../engine/paymentAddress.ts';
import { shownPaymentBody } from '../../engine/readPayment.ts';
import { simulatedOutcomes } from '../../engine/simulatePayment.ts';
import { searchedPayments, searchPayments } from '../../storage/dashboard/searchPayments.ts';
import { listPayments, type PaymentSearch } from '../../storage/listPayments.ts';
import { readPayments } from '../../storage/payments.ts';
import { defaultPageLimit, timeRange } from '../paymentRoutes.ts';
import type { Reply } from '../route.ts';
import { choice, paymentRequest, storable, strict } from '../schemas.ts';
import { createCsvStreams } from './csvStream.ts';
import { type DashboardCall, type DashboardRoute, route } from './dashboardRoute.ts';

const filters = {
  status: Type.Optional(choice(paymentStatuses, 'Only payments with this status.')),
  exception: Type.Optional(choice([...exceptions, wrongToken] as const, 'Only payments with this exception.')),
  currency: Type.Optional(Type.String({ ...storable, minLength: 1, maxLength: 20 })),
  network: Type.Optional(choice(slugs, 'Only payments on this network.')),
  from: Type.Optional(Type.String({ maxLength: 64 })),
  to: Type.Optional(Type.String({ maxLength: 64 })),
};
const fileQuery = Type.Object(filters, strict);
const listQuery = Type.Object(
  {
    ...filters,
    search: Type.Optional(Type.String({ ...storable, minLength: 1, maxLength: 255 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  },
  strict,
);
const { amount, currency, network, description } = paymentRequest.properties;
const newPayment = Type.Object({ amount, currency, network, description }, strict);

const filterOf = (query: Static<typeof fileQuery>): PaymentSearch => {
  const { status, exception, network, currency } = query;
  return {
    ...(status === undefined ? {} : { status }),
    ...(exception === undefined ? {} : exception === wrongToken ? { strayed: true } : { exception }),
    ...(network === undefined ? {} : { network }),
    ...(currency === undefined ? {} : { currency: /^\w*$/.test(currency) ? currency.toUpperCase() : currency }),
    ...timeRange(query),
  };
};

type Listed = MoneyApi['GET /payments']['answer'];

/**
 * Searches by text, or for payments with strays. Looks through the newest payments, and finds any payment by its exact
 * id, address or transaction.
 */
const found = async (
  context: Context,
  scope: Scope,
  filter: PaymentSearch,
  { search, limit, offset }: { search: string | undefined; limit: number; offset: number },
): Promise<Listed> => {
  const text = search?.trim() ?? '';
  const wanted = text === '' ? null : { text, address: canonicalAddress(text), txHash: text.toLowerCase() };
  const page = await searchPayments(context.listDb, scope, filter, wanted, { limit, offset });
  const rows = await readPayments(
    context.listDb,
    page.ids.map(id => ({ scope, id })),
  );
  return {
    data: rows.flatMap(row => (row === null ? [] : (JSON.parse(shownPaymentBody(context, row)) as PaymentObject))),
    pagination: { limit, offset, total: page.total },
    searched: page.isCut ? searchedPayments : null,
  };
};

const list = async (context: Context, scope: Scope, query: Static<typeof listQuery>): Promise<Listed> => {
  const { limit = defaultPageLimit, offset = 0, search, ...rest } = query;
  const { strayed, ...filter } = filterOf(rest);
  if (search !== undefined || strayed) {
    return found(context, scope, { ...filter, ...(strayed ? { strayed } : {}) }, { search, limit, offset });
  }
  const { rows, total } = await listPayments(context.listDb, scope, filter, { limit, offset });
  const data = rows.map(row => JSON.parse(shownPaymentBody(context, row)) as PaymentObject);
  return { data, pagination: { limit, offset, total }, searched: null };
};

const byOf = ({ person, address }: Pick<DashboardCall, 'person' | 'address'>) => ({ person, address });

const exporting = 'payments.export';

const readRoutes = (context: Context): DashboardRoute[] => {
  const stream = createCsvStreams(context.log);
  const exported = async (call: DashboardCall<'GET /payments.csv'>): Promise<{ reply: Reply }> => {
    const { scope, environment, person } = call;
    const filter = filterOf(call.query as Static<typeof fileQuery>);
    const reader = { personId: person.personId, mayRead: () => isStillAllowed(context, person, exporting) };
    const file = stream(reader, () => csvOfPayments(context, scope, filter));
    try {
      await recordExport(context, scope, filter, byOf(call));
    } catch (error) {
      file.drop();
      throw error;
    }
    const day = new Date(context.clock.nowMs()).toISOString().slice(0, 10);
    const headers = { 'content-disposition': `attachment; filename="florin-payments-${environment}-${day}.csv"` };
    return { reply: { body: '', contentType: 'text/csv; charset=utf-8; header=present', headers, stream: file } };
  };
  return [
    route({
      name: 'GET /payments',
      action: 'payments.read',
      query: listQuery,
      handle: call => list(context, call.scope, call.query as Static<typeof listQuery>),
    }),
    route({ name: 'GET /payments.csv', action: exporting, query: fileQuery, handle: exported }),
    route({
      name: 'GET /payments/:id',
      action: 'payments.read',
      handle: call => readPaymentTimeline(context, call.scope, call.params.id!),
    }),
  ];
};

const writeRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'POST /payments',
    action: 'payments.create',
    body: newPayment,
    handle: call => createPaymentAs(context, call.scope, { ...call.body, metadata: '{}' }, byOf(call)),
  }),
  route({
    name: 'POST /payments/:id/cancel',
    action: 'payments.cancel',
    handle: call => actOnPaymentAs(context, call.scope, call.params.id!, { kind: 'cancel' }, byOf(call)),
  }),
  route({
    name: 'POST /payments/:id/resolve',
    action: 'payments.resolve',
    body: Type.Object({ expectedAmount: Type.String({ maxLength: 100 }) }, strict),
    handle: call => {
      const act = { kind: 'resolve', expectedAmount: call.body.expectedAmount } as const;
      return actOnPaymentAs(context, call.scope, call.params.id!, act, byOf(call));
    },
  }),
  route({
    name: 'POST /payments/:id/simulate',
    action: 'payments.create',
    body: Type.Object({ outcome: choice(simulatedOutcomes, 'Outcome to simulate.') }, strict),
    handle: call => {
      const { outcome } = call.body as { outcome: (typeof simulatedOutcomes)[number] };
      return simulatePaymentAs(context, call.scope, call.params.id!, outcome, byOf(call));
    },
  }),
];

/** Payments in the dashboard: list, CSV export, details with timeline, and actions. */
export const dashboardPayments = (context: Context): DashboardRoute[] => [
  ...readRoutes(context),
  ...writeRoutes(context),
];
