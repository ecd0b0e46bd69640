import type { DashboardClient } from '../../support/dashboard.ts';
import type { Answer } from '../../support/send.ts';
import { until } from '../../support/until.ts';
import { localChain } from '../../watch/watchScene.ts';
import { type AskAs, type Corpus, fixedAddresses } from '../corpusScene.ts';
import type { Lives } from './paymentLives.ts';
import { ordinary } from './paymentRequests.ts';

const queries: readonly string[] = [
  'limit=1', 'limit=1&offset=2', 'limit=1&status=completed', 'limit=1&exception=underpaid', 'limit=1&exception=overpaid',
  'limit=1&exception=wrong_token', 'limit=1&currency=dai', 'limit=1&network=polygon', 'limit=1&search=order',
  'limit=1&search=life%20late', 'search=nothing%20at%20all', 'limit=1&from=2020-01-01&to=2099-01-01', 'search=%20',
  'limit=1&environment=production',
]; // biome-ignore format: one list

const refused: readonly string[] = [
  'limit=0', 'limit=101', 'offset=-1', 'status=paid', 'exception=lost', 'currency=', 'network=mars', 'from=x',
  'from=2026-02-01&to=2026-01-01', 'search=', `search=${'x'.repeat(256)}`, 'search=%00', 'sort=amount', 'environment=moon',
]; // biome-ignore format: one list

const reads = async (corpus: Corpus, app: AskAs, lives: Lives): Promise<void> => {
  const owner = await corpus.dashboard.as('owner');
  const get = (name: string, path: string): Promise<Answer> => app(owner, name, `GET ${path}`);
  await get('networks', '/networks');
  await get('networks of production', '/networks?environment=production');
  await get('home', '/home?days=1');
  await get('home of production', '/home?days=2&environment=production');
  for (const query of ['days=0', 'days=367', 'days=x', 'weeks=1']) await get(`home: ${query}`, `/home?${query}`);
  await get('go live', '/go-live');
  await get('backups', '/backups');
  for (const query of [...queries, ...refused]) await get(`payments: ${query}`, `/payments?${query}`);
  await get('payments: search an id', `/payments?search=${lives.paid}`);
  for (const [name, id] of Object.entries(lives)) {
    // The late transfer and the expiry are seen at about the same time, and either may come first.
    if (name !== 'late') await get(`payment: ${name}`, `/payments/${id}`);
  }
  await get('payment: unknown', `/payments/pay_${'0'.repeat(26)}`);
  await get('payment: in production', `/payments/${lives.paid}?environment=production`);
  await get('payment: a strange id', '/payments/a%20b');
  await get('file', '/payments.csv?status=completed');
  await get('file of production', '/payments.csv?environment=production&from=2020-01-01');
  await get('file: limit=1', '/payments.csv?limit=1');
  await get('file: from=x', '/payments.csv?from=x');
};

const refusedPayments: readonly (readonly [string, unknown])[] = [
  ['no amount', {}],
  ['the amount 0', { ...ordinary, amount: '0' }],
  ['metadata', { ...ordinary, metadata: {} }],
  ['an unknown network', { ...ordinary, network: 'mars' }],
  ['bad JSON', '{'],
  ['a list', []],
];

const writes = async (corpus: Corpus, app: AskAs): Promise<void> => {
  const owner = await corpus.dashboard.as('owner');
  const post = (name: string, path: string, body?: unknown): Promise<Answer> =>
    app(owner, name, `POST ${path}`, body === undefined ? {} : { body });
  const { json } = await post('create', '/payments', { ...ordinary, description: 'By hand' });
  for (const [name, body] of refusedPayments) await post(`create: ${name}`, '/payments', body);
  await post('create: in production', '/payments?environment=production', ordinary);
  const one = `/payments/${json.id}`;
  await post('simulate: an unknown outcome', `${one}/simulate`, { outcome: 'x' });
  await post('simulate: unknown', `/payments/pay_${'0'.repeat(26)}/simulate`, { outcome: 'paid' });
  await corpus.florin.client.call('POST', `/v1/sandbox${one}/simulate`, {
    key: corpus.account.keys.sandbox,
    body: { outcome: 'underpaid' },
  });
  await corpus.reach(json.id, payment => payment.exception === 'underpaid' && payment.amountConfirmed === '12.50');
  await post('cancel: with funds', `${one}/cancel`);
  await post('resolve: another amount', `${one}/resolve`, { expectedAmount: '25' });
  await post('resolve: no amount', `${one}/resolve`, {});
  await post('resolve', `${one}/resolve`, { expectedAmount: '12.50' });
  await corpus.reach(json.id, payment => payment.status === 'completed');
  await post('resolve: completed', `${one}/resolve`, { expectedAmount: '12.50' });
  // The answer shows the payment at once: before or after the chain was read again.
  await app(owner, 'simulate: reorg', `POST ${one}/simulate`, { body: { outcome: 'reorg' }, isPage: true });
  await corpus.reach(json.id, payment => payment.status === 'reversed');
  const open = await post('create: to cancel', '/payments', ordinary);
  await post('cancel', `/payments/${open.json.id}/cancel`);
  await post('cancel: again', `/payments/${open.json.id}/cancel`);
  await post('cancel: unknown', `/payments/pay_${'0'.repeat(26)}/cancel`);
};

/** Sweeps of an account that has one payment with funds. */
const settle = async (corpus: Corpus, app: AskAs): Promise<void> => {
  const { florin, dashboard } = corpus;
  const account = await florin.account({ name: 'Sweeper' });
  const owner = await dashboard.newPerson('owner', account.id);
  await app(owner, 'settlement: nothing', 'GET /settlement');
  const call = (path: string, body: unknown) => florin.client.call('POST', path, { key: account.keys.sandbox, body });
  const { json: payment } = await call('/v1/payments', ordinary);
  await call(`/v1/sandbox/payments/${payment.id}/simulate`, { outcome: 'paid' });
  await reachAs(corpus, account.keys.sandbox, payment.id);
  const token = { network: 'base', currency: 'USDC' };
  const { json } = await app(owner, 'settlement: a payment', `GET /payments/${payment.id}`);
  const body = { ...token, treasury: json.treasury };
  const plan = (name: string, more: unknown): Promise<Answer> =>
    app(owner, `plan: ${name}`, 'POST /settlement/plan', { body: more });
  await app(owner, 'settlement', 'GET /settlement');
  await plan('one payment', body);
  await plan('an unknown token', { ...body, currency: 'NOPE' });
  await plan('an unknown network', { ...body, network: 'mars' });
  await plan('another treasury', { ...body, treasury: fixedAddresses.treasury });
  await plan('no treasury', token);
  const sweep = (name: string, more: object): Promise<Answer> =>
    app(owner, `sweep: ${name}`, 'POST /settlement/sweeps', {
      body: { ...token, txHash: `0x${'ab'.repeat(32)}`, payments: [payment.id], ...more },
    });
  await sweep('a hash that is none', { txHash: '0x12' });
  await sweep('no payments', { payments: [] });
  await sweep('an unknown payment', { payments: [`pay_${'0'.repeat(26)}`] });
  await sweep('an unknown token', { currency: 'NOPE' });
  await sweep('sent', {});
  await sweep('sent again', {});
  await app(owner, 'settlement: a sweep', 'GET /settlement');
  await app(owner, 'timeline of a swept payment', `GET /payments/${payment.id}`);
  const confirm = (name: string, treasury: string): Promise<Answer> =>
    app(owner, `confirm: ${name}`, 'POST /settlement/confirm', { body: { network: 'base', treasury } });
  await confirm('without a proof', json.treasury);
  await owner.prove();
  await confirm('no contract', json.treasury);
  await confirm('an unknown treasury', fixedAddresses.treasury);
  await confirmContract(corpus, app, owner);
};

/** A contract of the local chain stands for a merchant's multisig. */
const confirmContract = async ({ florin }: Corpus, app: AskAs, owner: DashboardClient): Promise<void> => {
  const { address: treasury } = await (await localChain(florin.config.dataDir)).deploy('PlainSender');
  const body = { network: 'polygon', treasury };
  await app(owner, 'wallet that is a contract', 'POST /wallets', { body });
  await app(owner, 'confirm: a contract', 'POST /settlement/confirm', { body });
  await app(owner, 'confirm: again', 'POST /settlement/confirm', { body });
};

const reachAs = async ({ florin }: Corpus, key: string, id: string): Promise<void> => {
  await until(
    () => florin.client.call('GET', `/v1/payments/${id}`, { key }),
    answer => answer.json.status === 'completed',
  );
};

/** Home, payments and settlement in the dashboard. */
export const appMoney = async (corpus: Corpus, lives: Lives): Promise<void> => {
  const app = corpus.appDoor('money');
  await reads(corpus, app, lives);
  await writes(corpus, app);
  await settle(corpus, app);
};
