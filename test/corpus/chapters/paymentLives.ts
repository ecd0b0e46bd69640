import type { Answer } from '../../support/send.ts';
import type { Ask, Corpus } from '../corpusScene.ts';
import { ordinary } from './paymentRequests.ts';

type Payment = Answer['json'];
/** The payments of this chapter by what happened to them. */
export type Lives = Readonly<Record<(typeof outcomes)[number][0] | 'reversed' | 'canceled' | 'untouched', string>>;

const isFinal = (payment: Payment): boolean => payment.amountConfirmed === payment.amountReceived;

/** The outcome, what is paid, and how to see that nothing more happens. */
const outcomes = [
  ['paid', 'USDC', (payment: Payment) => payment.status === 'completed'],
  ['underpaid', 'USDC', (payment: Payment) => payment.exception === 'underpaid' && isFinal(payment)],
  ['overpaid', 'USDT', (payment: Payment) => payment.exception === 'overpaid' && payment.status === 'completed'],
  ['late', 'DAI', (payment: Payment) => payment.exception === 'late' && payment.status === 'completed'],
  ['wrong_token', 'USDC', (payment: Payment) => payment.strays.length > 0],
] as const;

const simulateOf = (id: string): string => `POST /v1/sandbox/payments/${id}/simulate`;

const create = async (ask: Ask, name: string, fields: object = {}): Promise<string> =>
  (await ask(`create: ${name}`, 'POST /v1/payments', { body: { ...ordinary, ...fields } })).json.id;

const simulateOutcomes = async (corpus: Corpus, ask: Ask): Promise<Record<string, string>> => {
  const ids: Record<string, string> = {};
  for (const [outcome, currency] of outcomes) {
    ids[outcome] = await create(ask, outcome, { currency, externalId: `life ${outcome}`, metadata: { outcome } });
    await ask(`simulate: ${outcome}`, simulateOf(ids[outcome]), { body: { outcome } });
  }
  for (const [outcome, , isWanted] of outcomes) await corpus.reach(ids[outcome]!, isWanted);
  return ids;
};

const simulateReorg = async (corpus: Corpus, ask: Ask): Promise<string> => {
  const id = await create(ask, 'reversed');
  const headers = { 'idempotency-key': 'simulate-1' };
  const body = { outcome: 'paid' };
  await ask('simulate: paid, with an Idempotency-Key', simulateOf(id), { body, headers });
  await ask('simulate: the same again', simulateOf(id), { body, headers });
  await ask('simulate: the key with another body', simulateOf(id), { body: { outcome: 'late' }, headers });
  await corpus.reach(id, payment => payment.status === 'completed');
  await ask('simulate: reorg', simulateOf(id), { body: { outcome: 'reorg' } });
  await corpus.reach(id, payment => payment.status === 'reversed');
  return id;
};

const refusedSimulations: readonly (readonly [string, unknown])[] = [
  ['an unknown outcome', { outcome: 'stolen' }],
  ['no outcome', {}],
  ['an outcome that is null', { outcome: null }],
  ['an unknown field', { outcome: 'paid', amount: '1' }],
  ['a list', []],
  ['bad JSON', '{'],
];

const refuseSimulations = async (ask: Ask, id: string): Promise<void> => {
  for (const [name, body] of refusedSimulations) await ask(`simulate: ${name}`, simulateOf(id), { body });
  await ask('simulate: no body', simulateOf(id));
  await ask('simulate: an unknown id', simulateOf(`pay_${'0'.repeat(26)}`), { body: { outcome: 'paid' } });
  await ask('simulate: no id', simulateOf('pay_x'), { body: { outcome: 'paid' } });
  const asking = { environment: 'production', body: { outcome: 'paid' } } as const;
  await ask('simulate: in production', simulateOf(id), asking);
};

const cancel = async (ask: Ask, ids: Record<string, string>, open: string): Promise<void> => {
  const cancelOf = (id: string): string => `POST /v1/payments/${id}/cancel`;
  const headers = { 'idempotency-key': 'cancel-1' };
  await ask('cancel: an unknown field', cancelOf(open), { body: { why: 'x' } });
  await ask('cancel: a list', cancelOf(open), { body: [] });
  await ask('cancel: null', cancelOf(open), { body: 'null' });
  await ask('cancel: bad JSON', cancelOf(open), { body: '{' });
  await ask('cancel: a form', cancelOf(open), { body: 'a=1', headers: { 'content-type': 'text/plain' } });
  await ask('cancel: in production', cancelOf(open), { environment: 'production' });
  await ask('cancel: a key that is too long', cancelOf(open), { headers: { 'idempotency-key': 'k'.repeat(256) } });
  await ask('cancel: pending', cancelOf(open), { headers });
  await ask('cancel: the same again', cancelOf(open), { headers });
  await ask('cancel: the key with another body', cancelOf(open), { headers, body: {} });
  await ask('cancel: canceled', cancelOf(open), { body: {} });
  for (const outcome of ['paid', 'underpaid', 'late']) await ask(`cancel: ${outcome}`, cancelOf(ids[outcome]!));
  await ask('cancel: a conflict with a key', cancelOf(ids.paid!), { headers: { 'idempotency-key': 'cancel-2' } });
  await ask('cancel: the conflict again', cancelOf(ids.paid!), { headers: { 'idempotency-key': 'cancel-2' } });
  await ask('cancel: an unknown id', cancelOf(`pay_${'0'.repeat(26)}`));
  await ask('cancel: no id', cancelOf('nothing'));
};

const refusedResolutions: readonly (readonly [string, unknown])[] = [
  ['no action', {}],
  ['an unknown action', { action: 'reject' }],
  ['an action that is a number', { action: 1 }],
  ['an unknown field', { action: 'accept', amount: '1' }],
  ['an expected amount that is a number', { action: 'accept', expectedAmount: 12.5 }],
  ['an expected amount that is too long', { action: 'accept', expectedAmount: '1'.repeat(101) }],
  ['an expected amount that is no amount', { action: 'accept', expectedAmount: 'much' }],
  ['another expected amount', { action: 'accept', expectedAmount: '12.49' }],
  ['bad JSON', '{"action":accept}'],
];

const resolve = async (corpus: Corpus, ask: Ask, ids: Record<string, string>): Promise<void> => {
  const resolveOf = (id: string): string => `POST /v1/payments/${id}/resolve`;
  const id = ids.underpaid!;
  for (const [name, body] of refusedResolutions) await ask(`resolve: ${name}`, resolveOf(id), { body });
  await ask('resolve: no body', resolveOf(id));
  const body = { action: 'accept', expectedAmount: '12.5' };
  const headers = { 'idempotency-key': 'resolve-1' };
  await ask('resolve: underpaid', resolveOf(id), { body, headers });
  await ask('resolve: the same again', resolveOf(id), { body, headers });
  await ask('resolve: the key with another body', resolveOf(id), { body: { action: 'accept' }, headers });
  await corpus.reach(id, payment => payment.status === 'completed');
  for (const outcome of ['underpaid', 'paid', 'wrong_token', 'reversed']) {
    await ask(`resolve: ${outcome}, accepted`, resolveOf(ids[outcome]!), { body: { action: 'accept' } });
  }
  await ask('resolve: an unknown id', resolveOf(`pay_${'0'.repeat(26)}`), { body });
  await ask('resolve: in production', resolveOf(id), { body, environment: 'production' });
};

/** What happens to payments: simulated outcomes, cancel and resolve. */
export const paymentLives = async (corpus: Corpus): Promise<Lives> => {
  const ask = corpus.door('lives');
  const canceled = await create(ask, 'canceled', { callbackUrl: 'https://shop.example/callback' });
  const untouched = await create(ask, 'untouched', { network: 'avalanche', description: 'Nobody pays this' });
  const ids = {
    ...(await simulateOutcomes(corpus, ask)),
    reversed: await simulateReorg(corpus, ask),
    canceled,
    untouched,
  };
  await refuseSimulations(ask, untouched);
  await cancel(ask, ids, canceled);
  await resolve(corpus, ask, ids);
  for (const [name, id] of Object.entries(ids)) await ask(`read: ${name}`, `GET /v1/payments/${id}`);
  return ids as unknown as Lives;
};
