import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../fuzz/random.ts';
import type { Api, ApiAnswer } from './api.ts';
import type { AckedPayment, Ledger, Order } from './ledger.ts';

const maximumEndpoints = 8;
/** Nothing listens there, so that a delivery fails at once and stays on this machine. */
const receiver = 'http://127.0.0.1:9/hook';
const networks = ['base', 'ethereum', 'polygon', 'arbitrum'];

const newOrder = (random: Random): Order => {
  const externalId = randomUUID();
  const idempotencyKey = random.next() < 0.4 ? `key-${randomUUID()}` : null;
  const optional = {
    ...(random.next() < 0.15 ? { expiresIn: 1 + random.below(4) } : {}),
    ...(random.next() < 0.2 ? { callbackUrl: `${receiver}/${externalId}` } : {}),
  };
  const amount = `${1 + random.below(1_000)}.${String(random.below(100)).padStart(2, '0')}`;
  const metadata = { key: idempotencyKey };
  const body = { amount, currency: 'USDC', network: random.pick(networks), externalId, metadata, ...optional };
  return { externalId, idempotencyKey, body };
};

const accept = (ledger: Ledger, order: Order, answer: ApiAnswer): void => {
  const { id, address, amount } = answer.body as { id: string; address: string; amount: string };
  const known = ledger.payments.get(id);
  if (known) {
    if (known.externalId !== order.externalId) ledger.outrage(`one payment for two orders: ${id}`);
    if (known.address !== address || known.amount !== amount) ledger.outrage(`another answer for ${id}`);
    return;
  }
  if (answer.body.externalId !== order.externalId) ledger.outrage(`the answer is for another order: ${id}`);
  const callbackUrl = (order.body.callbackUrl as string | undefined) ?? null;
  const payment = { ...order, id, address, amount, callbackUrl, canceled: false };
  ledger.payments.set(id, payment);
  ledger.acknowledge('payment', { id, address, amount, externalId: order.externalId, key: order.idempotencyKey });
  if (order.idempotencyKey !== null) ledger.replayable.push({ order, id });
};

/** Two clients may use one key at the same time; the second gets a conflict. */
const isInProgress = ({ body }: ApiAnswer): boolean =>
  (body.error as { code?: unknown } | undefined)?.code === 'idempotency_in_progress';

/** Faults that are allowed while processes are being killed. */
export const refused = (ledger: Ledger, what: string, answer: ApiAnswer): void => {
  ledger.count(`status ${answer.status}`);
  if (answer.status !== 503 && !isInProgress(answer))
    ledger.outrage(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
};

/** Sends an order. If its fate is unknown, or it was refused, it is kept to be sent again. */
export const place = async (api: Api, ledger: Ledger, order: Order): Promise<void> => {
  const options = order.idempotencyKey === null ? {} : { idempotencyKey: order.idempotencyKey };
  let answer: ApiAnswer;
  try {
    answer = await api.call('POST', '/v1/payments', { body: order.body, ...options });
  } catch (error) {
    ledger.unsettled.push(order);
    throw error;
  }
  const isTaken = answer.status === 409 && !isInProgress(answer);
  if (answer.replayed || isTaken) ledger.count('create carried out, its answer lost');
  if (answer.status === 200) return accept(ledger, order, answer);
  if (isTaken) {
    // An earlier try was carried out and its answer lost. Without a key the list tells which payment it became.
    const list = await api.call('GET', `/v1/payments?externalId=${order.externalId}`).catch(() => null);
    const found = (list?.body.data as Record<string, unknown>[] | undefined) ?? [];
    if (found.length === 1) accept(ledger, order, { ...answer, body: found[0]! });
    else if (list?.status === 200) ledger.outrage(`a conflict over ${order.externalId} with ${found.length} payments`);
    else ledger.unsettled.push(order);
    return;
  }
  ledger.unsettled.push(order);
  refused(ledger, 'create', answer);
};

const replay = async (api: Api, ledger: Ledger, random: Random): Promise<void> => {
  if (ledger.replayable.length === 0) return;
  const { order, id } = random.pick(ledger.replayable);
  const answer = await api.call('POST', '/v1/payments', { body: order.body, idempotencyKey: order.idempotencyKey! });
  if (answer.status !== 200) return refused(ledger, 'replay', answer);
  ledger.count('replay');
  if (answer.body.id !== id || !answer.replayed) ledger.outrage(`the key of ${id} was answered with ${answer.body.id}`);
};

const anyPayment = (ledger: Ledger, random: Random): AckedPayment | null => {
  const all = [...ledger.payments.values()];
  // Mostly a recent one: those are the ones a kill may have hurt.
  const recent = all.slice(-200);
  return recent.length === 0 ? null : random.pick(random.next() < 0.8 ? recent : all);
};

const cancel = async (api: Api, ledger: Ledger, random: Random): Promise<void> => {
  const payment = anyPayment(ledger, random);
  if (!payment) return;
  const answer = await api.call('POST', `/v1/payments/${payment.id}/cancel`);
  if (answer.status === 409) return ledger.count('cancel refused');
  if (answer.status !== 200) return refused(ledger, 'cancel', answer);
  payment.canceled = true;
  ledger.acknowledge('cancel', { id: payment.id });
};

export const read = async (api: Api, ledger: Ledger, random: Random): Promise<void> => {
  const payment = anyPayment(ledger, random);
  if (!payment) return;
  const wasCanceled = payment.canceled;
  const { status, body } = await api.call('GET', `/v1/payments/${payment.id}`);
  if (status !== 200) return refused(ledger, `read of ${payment.id}`, { status, body, replayed: false });
  ledger.count('read');
  if (body.address !== payment.address || body.amount !== payment.amount) ledger.outrage(`${payment.id} has changed`);
  if (wasCanceled && body.status !== 'canceled') ledger.outrage(`${payment.id} was canceled and is ${body.status}`);
};

const addEndpoint = async (api: Api, ledger: Ledger, random: Random): Promise<void> => {
  if (ledger.endpoints.length >= maximumEndpoints) return;
  const events = random.next() < 0.7 ? ['*'] : ['payment.canceled', 'payment.expired'];
  const sentMs = Date.now();
  const answer = await api.call('POST', '/v1/webhooks', { body: { url: receiver, events } });
  if (answer.status !== 200) return refused(ledger, 'endpoint', answer);
  const endpoint = { id: answer.body.id as string, events, sentMs, ackedMs: Date.now() };
  ledger.endpoints.push(endpoint);
  ledger.acknowledge('endpoint', endpoint);
};

/** What one client does until it is stopped. A request without an answer has an unknown outcome. */
export const drive = async (api: Api, ledger: Ledger, random: Random, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const luck = random.next();
    const old = luck < 0.3 ? ledger.unsettled.shift() : undefined;
    try {
      if (old) await place(api, ledger, old);
      else if (luck < 0.65) await place(api, ledger, newOrder(random));
      else if (luck < 0.73) await replay(api, ledger, random);
      else if (luck < 0.83) await cancel(api, ledger, random);
      else if (luck < 0.99) await read(api, ledger, random);
      else await addEndpoint(api, ledger, random);
    } catch {
      ledger.count('unanswered');
      // The server is gone or going; a turn later the round may be over.
      await pause(20, undefined, { signal }).catch(() => {});
    }
  }
};

/** Sends again whatever has no answer yet, when nothing is being killed any more. */
export const settle = async (api: Api, ledger: Ledger): Promise<void> => {
  const bound = ledger.unsettled.length * 3;
  for (let tried = 0; tried < bound && ledger.unsettled.length > 0; tried++) {
    await place(api, ledger, ledger.unsettled.shift()!).catch(() => ledger.count('unanswered'));
  }
};
