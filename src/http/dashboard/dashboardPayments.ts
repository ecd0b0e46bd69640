import { type Static, Type } from 'typebox';
import { choice, storable, strict } from '../../core/api/fields.ts';
import { type MoneyApi, wrongToken } from '../../core/api/moneyApi.ts';
import { type Payment, paymentRequest } from '../../core/api/payment.ts';
import { simulateRequest } from '../../core/api/simulation.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { exceptions, paymentStatuses } from '../../core/payment/states.ts';
import { slugs } from '../../core/registry/backings.ts';
import { isStillAllowed } from '../../engine/access/sessions.ts';
import { assertVouched } from '../../engine/audit/register.ts';
import type { Context } from '../../engine/context.ts';
import { actOnPayment, type MerchantAct } from '../../engine/payments/actOnPayment.ts';
import type { CreatePayment } from '../../engine/payments/createPayment.ts';
import { csvOfPayments, recordExport } from '../../engine/payments/exportPayments.ts';
import { canonicalAddress } from '../../engine/payments/paymentAddress.ts';
import { withMetadata } from '../../engine/payments/paymentObject.ts';
import { readPaymentTimeline } from '../../engine/payments/paymentTimeline.ts';
import { noSuchPayment, readPaymentRow, readShownRow } from '../../engine/payments/readPayment.ts';
import { simulatePayment } from '../../engine/payments/simulatePayment.ts';
import { perform } from '../../engine/perform.ts';
import { readPaymentTerms } from '../../storage/access/accounts.ts';
import { listPayments, type PaymentSearch } from '../../storage/payments/listPayments.ts';
import { readPayments } from '../../storage/payments/payments.ts';
import { searchedPayments, searchPayments } from '../../storage/payments/searchPayments.ts';
import type { Reply } from '../edge/route.ts';
import { defaultPageLimit, timeRange } from '../v1/paymentRoutes.ts';
import { actingOf } from './actingOf.ts';
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
    data: rows.flatMap(row => (row === null ? [] : withMetadata(readShownRow(context, row)))),
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
  const data = rows.map(row => withMetadata(readShownRow(context, row)));
  return { data, pagination: { limit, offset, total }, searched: null };
};

const exporting = 'payments.export';

const readRoutes = (context: Context): DashboardRoute[] => {
  const stream = createCsvStreams(context.log);
  const exported = async (call: DashboardCall<'GET /payments.csv'>): Promise<{ reply: Reply }> => {
    const { scope, environment, person } = call;
    const filter = filterOf(call.query as Static<typeof fileQuery>);
    const reader = { personId: person.personId, mayRead: () => isStillAllowed(context, person, exporting) };
    const file = stream(reader, () => csvOfPayments(context, scope, filter));
    try {
      await perform(context, actingOf(call), null, recordExport(filter));
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

const act = async (
  context: Context,
  call: Pick<DashboardCall, 'scope' | 'person' | 'address' | 'action' | 'params'>,
  asked: MerchantAct,
): Promise<Payment> => {
  const work = actOnPayment(context, call.params.id!, asked);
  const { row, funds } = await perform(context, actingOf(call), null, work);
  return withMetadata(readPaymentRow(context, row, funds));
};

const readOne = async (context: Context, scope: Scope, id: string): Promise<Payment> => {
  const [row] = await readPayments(context.db, [{ scope, id }]);
  if (!row) throw noSuchPayment();
  return withMetadata(readShownRow(context, row));
};

const writeRoutes = (context: Context, createPayment: CreatePayment): DashboardRoute[] => [
  route({
    name: 'POST /payments',
    action: 'payments.create',
    body: newPayment,
    async handle({ scope, body }) {
      const terms = await readPaymentTerms(context.db, scope);
      if (!terms) throw new FlorinError('not_found', 'This account has no such environment.');
      assertVouched(context, terms);
      // Creating answers with the bytes that an Idempotency-Key would keep.
      return JSON.parse((await createPayment(terms, { ...body, metadata: '{}', trace: null }, null)).body) as Payment;
    },
  }),
  route({
    name: 'POST /payments/:id/cancel',
    action: 'payments.cancel',
    handle: call => act(context, call, { kind: 'cancel' }),
  }),
  route({
    name: 'POST /payments/:id/resolve',
    action: 'payments.resolve',
    body: Type.Object({ expectedAmount: Type.String({ maxLength: 100 }) }, strict),
    handle: call => act(context, call, { kind: 'resolve', expectedAmount: call.body.expectedAmount }),
  }),
  route({
    name: 'POST /payments/:id/simulate',
    action: 'payments.create',
    body: simulateRequest,
    async handle({ scope, params, body }) {
      await simulatePayment(context, scope, params.id!, body.outcome, null);
      return readOne(context, scope, params.id!);
    },
  }),
];

/** Payments in the dashboard: list, CSV export, details with timeline, and actions. */
export const dashboardPayments = (context: Context, createPayment: CreatePayment): DashboardRoute[] => [
  ...readRoutes(context),
  ...writeRoutes(context, createPayment),
];
