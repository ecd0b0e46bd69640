import type { Check } from './checkChain.ts';
import type { EventRow, PaymentRow, Tables } from './tables.ts';

/** The legal edges, written a second time on purpose, so that one list checks the other. */
const edges = new Set([
  'pending confirming',
  'pending expired',
  'pending canceled',
  'confirming completed',
  'confirming pending',
  'confirming expired',
  'confirming reversed',
  'expired confirming',
  'canceled confirming',
  'completed reversed',
  'reversed confirming',
]);

const arrivals: Readonly<Record<string, string>> = {
  confirming: 'payment.confirming',
  completed: 'payment.completed',
  canceled: 'payment.canceled',
  reversed: 'payment.reversed',
};

/** The event that a change of status must have. */
const eventOf = (from: string, to: string): string =>
  arrivals[to] ?? (from === 'confirming' ? 'payment.reverted' : 'payment.expired');

const faultOfHistory = (payment: PaymentRow, events: readonly EventRow[]): string | null => {
  const [first] = events;
  if (first?.type !== 'payment.created' || first.status !== 'pending') return 'it does not begin with its creation';
  let [status, exception] = ['pending', null as string | null];
  for (const event of events.slice(1)) {
    const where = `${event.sequence} (${event.type})`;
    if (event.previousStatus !== status || event.previousException !== exception) {
      return `${where} follows on ${event.previousStatus}, not on ${status}`;
    }
    if (event.status !== status) {
      if (!edges.has(`${status} ${event.status}`)) return `${where} goes from ${status} to ${event.status}`;
      if (event.type !== eventOf(status, event.status)) return `${where} is not the word for that step`;
      const wasCompleted = events.some(({ sequence, status: s }) => sequence < event.sequence && s === 'completed');
      if (event.status === 'reversed' && !wasCompleted) return `${where} reverses what was never completed`;
    }
    [status, exception] = [event.status, event.exception];
  }
  if (status !== payment.status || exception !== payment.exception) {
    return `it ends in ${status} ${exception}, the payment is ${payment.status} ${payment.exception}`;
  }
  return null;
};

const byPayment = (events: readonly EventRow[]): Map<string, EventRow[]> => Map.groupBy(events, e => e.paymentId);

/** I4: each history is a path of legal edges from the creation to what the payment is now. */
export const checkPaths = ({ payments, events }: Tables): Check => {
  const histories = byPayment(events);
  const problems = payments.flatMap(payment => {
    const fault = faultOfHistory(payment, histories.get(payment.id) ?? []);
    return fault === null ? [] : [`${payment.id}: ${fault}`];
  });
  return { what: `I4 ${payments.length} histories are paths of legal edges`, problems };
};

export type Shown = {
  readonly hash: string | null;
  readonly amount: string;
  readonly blockNumber: number;
  readonly confirmations: number;
};
export type Body = {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly previous: { readonly status: string | null; readonly exception: string | null };
  readonly data: {
    readonly id: string;
    readonly status: string;
    readonly exception: string | null;
    readonly amount: string;
    readonly amountReceived: string;
    readonly transactions: readonly Shown[];
    readonly confirmations: { readonly required: number | null; readonly rule: string };
  };
};

const sayTheSame = (event: EventRow, body: Body): boolean =>
  body.id === event.id &&
  body.type === event.type &&
  body.sequence === event.sequence &&
  Date.parse(body.timestamp) === Math.round(event.createdMs) &&
  body.data.id === event.paymentId &&
  body.data.status === event.status &&
  body.data.exception === event.exception &&
  (body.previous.status ?? null) === event.previousStatus &&
  (body.previous.exception ?? null) === event.previousException;

/** Events seen so far; kept between checks. */
export type EventMemory = { readonly digests: Map<string, string>; readonly bodies: Map<string, Body> };
export const createEventMemory = (): EventMemory => ({ digests: new Map(), bodies: new Map() });

/** I5: one event for each entry of a history, numbered without gaps, and its bytes never change. */
export const checkEvents = async (tables: Tables, memory: EventMemory): Promise<Check> => {
  const { payments, events } = tables;
  const problems: string[] = [];
  const histories = byPayment(events);
  for (const payment of payments) {
    const sequences = (histories.get(payment.id) ?? []).map(event => event.sequence);
    if (sequences.length !== payment.sequence || sequences.some((sequence, at) => sequence !== at + 1)) {
      problems.push(`${payment.id} counts ${payment.sequence} entries, its events are ${sequences.join()}`);
    }
  }
  const present = new Set(events.map(event => event.id));
  for (const id of memory.digests.keys()) if (!present.has(id)) problems.push(`the event ${id} is gone`);
  for (const { id, digest } of events) {
    if ((memory.digests.get(id) ?? digest) !== digest) problems.push(`the bytes of ${id} have changed`);
  }
  const news = events.filter(({ id }) => !memory.digests.has(id));
  const bodies = await tables.bodies(news.map(({ id }) => id));
  for (const event of news) {
    const body = JSON.parse(bodies.get(event.id)!) as Body;
    if (!sayTheSame(event, body)) problems.push(`the bytes of ${event.id} say something else than its row`);
    memory.bodies.set(event.id, body);
    memory.digests.set(event.id, event.digest);
  }
  return { what: `I5 ${events.length} events, one an entry, numbered without gaps, with bytes as ever`, problems };
};
