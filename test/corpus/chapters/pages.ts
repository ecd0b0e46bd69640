import { openLive, tokenOf } from '../../api/checkoutScene.ts';
import type { Ask, Corpus } from '../corpusScene.ts';
import type { Lives } from './paymentLives.ts';
import { ordinary } from './paymentRequests.ts';

const noPayment = `pay_${'0'.repeat(26)}`;
const page = { key: null, isPage: true } as const;
const formType = { 'content-type': 'application/x-www-form-urlencoded' };

const system = async (corpus: Corpus): Promise<void> => {
  const ask = corpus.door('system');
  for (const environment of ['sandbox', 'production'] as const) {
    for (const path of [
      '/healthz',
      '/readyz',
      '/v1/networks',
      '/v1/networks/base',
      '/v1/networks/ethereum',
      '/v1/networks/mars',
    ]) {
      await ask(`${path}, ${environment}`, `GET ${path}`, { key: null, environment });
    }
    await ask(`/openapi.json, ${environment}`, 'GET /openapi.json', { ...page, environment });
    await ask(`/docs, ${environment}`, 'GET /docs', { ...page, environment });
    await ask(`/favicon.ico, ${environment}`, 'GET /favicon.ico', { ...page, environment });
    for (const accept of ['text/html', 'application/json']) {
      await ask(`/ as ${accept}, ${environment}`, 'GET /', { key: null, environment, headers: { accept } });
    }
    await ask(`/dashboard, ${environment}`, 'GET /dashboard', { ...page, environment });
    await ask(`/dashboard/payments, ${environment}`, 'GET /dashboard/payments?a=1', { ...page, environment });
    await ask(`/dashboard/api/session, ${environment}`, 'GET /dashboard/api/session', { key: null, environment });
  }
  await ask('networks with a key', 'GET /v1/networks/base');
  await ask('networks with a query', 'GET /v1/networks?status=down', { key: null });
  for (const path of ['/', '/docs', '/favicon.ico', '/healthz', '/dashboard', '/v1/networks']) {
    await ask(`HEAD ${path}`, `HEAD ${path}`, { ...page, headers: { accept: 'text/html' }, environment: 'production' });
  }
};

/** The first file that a page asks for with this ending. Its name changes with its contents. */
const assetOf = (corpus: Corpus, html: string, ending: string): string => {
  const name = new RegExp(`assets/([\\w.-]+\\.${ending})`).exec(html)![1]!;
  corpus.recorder.masks.name(name, `<name>.${ending}`);
  return name;
};

const dashboardFiles = async (corpus: Corpus): Promise<void> => {
  const ask = corpus.door('dashboard files');
  const { text } = await corpus.dashboard.send('GET', '/dashboard');
  for (const ending of ['js', 'css']) {
    const path = `/dashboard/assets/${assetOf(corpus, text, ending)}`;
    for (const encoding of ['identity', 'gzip']) {
      const asking = { ...page, environment: 'production', headers: { 'accept-encoding': encoding } } as const;
      await ask(`${ending}, ${encoding}`, `GET ${path}`, asking);
    }
  }
  const production = { ...page, environment: 'production', isPage: false } as const;
  await ask('an unknown file', 'GET /dashboard/assets/nothing.js', production);
  await ask('an unknown call', 'GET /dashboard/api/nothing', production);
  await ask('a page that is not wanted', 'GET /dashboard/payments', {
    ...production,
    headers: { accept: 'image/png' },
  });
  await ask('a method that is unknown', 'POST /dashboard', { ...production, body: {} });
};

const showPages = async (ask: Ask, lives: Lives): Promise<void> => {
  for (const [name, id] of Object.entries(lives)) await ask(`page: ${name}`, `GET /checkout/${id}`, page);
  const path = `/checkout/${lives.untouched}`;
  await ask('HEAD', `HEAD ${path}`, page);
  await ask('compressed', `GET ${path}`, { ...page, headers: { 'accept-encoding': 'gzip' } });
  for (const language of ['de', 'ar', 'xx']) {
    await ask(`asked in ${language}`, `GET ${path}?lang=${language}`, page);
    await ask(`accepted in ${language}`, `GET ${path}`, { ...page, headers: { 'accept-language': language } });
  }
  await ask('in production', `GET ${path}`, { ...page, environment: 'production' });
  for (const id of [noPayment, 'nothing', '%00']) {
    await ask(`an unknown page: ${id}`, `GET /checkout/${id}`, page);
    await ask(`an unknown main part: ${id}`, `GET /checkout/${id}/main`, page);
    await ask(`an unknown stream: ${id}`, `GET /checkout/${id}/live`, page);
    await ask(`an unknown form: ${id}`, `GET /checkout/${id}/simulate`, page);
  }
  await ask('below checkout', 'GET /checkout', page);
  await ask('a wrong method', `DELETE ${path}`, page);
  const { headers } = await ask('main', `GET ${path}/main`, page);
  await ask('main, unchanged', `GET ${path}/main`, { ...page, headers: { 'if-none-match': headers.etag! } });
  await ask('main, compressed', `GET ${path}/main`, { ...page, headers: { 'accept-encoding': 'gzip' } });
};

const followLive = async ({ recorder, florin, dashboard: { ca } }: Corpus, id: string): Promise<void> => {
  const request = `/checkout/${id}/live`;
  const live = await openLive(`${florin.florin.urls.sandbox}${request}`, { ca });
  const { status, headers } = live;
  const noted = { line: `GET ${request} (sandbox)`, isBodyLeftOut: true };
  recorder.note('checkout: live', noted, { status, headers, text: '', json: undefined });
  live.close();
  await live.ended;
};

const sendForms = async (corpus: Corpus, ask: Ask): Promise<void> => {
  const { json } = await ask('a payment', 'POST /v1/payments', { body: ordinary });
  const path = `/checkout/${json.id}/simulate`;
  const { text } = await corpus.florin.client.call('GET', `/checkout/${json.id}`);
  const form = (fields: Record<string, string>) => ({
    ...page,
    body: `${new URLSearchParams(fields)}`,
    headers: formType,
  });
  const token = tokenOf(text)!;
  corpus.recorder.masks.name(token, '<token of the page>');
  await ask('form: an unknown outcome', `POST ${path}`, form({ token, outcome: 'stolen' }));
  await ask('form: no token', `POST ${path}`, form({ outcome: 'paid' }));
  await ask('form: a wrong token', `POST ${path}`, form({ token: 'x', outcome: 'paid' }));
  await ask('form: as JSON', `POST ${path}`, { ...page, body: { token, outcome: 'paid' } });
  await ask('form: paid', `POST ${path}?lang=de`, form({ token, outcome: 'paid' }));
  await ask('form: read again', `GET ${path}`, page);
  await corpus.reach(json.id, payment => payment.status === 'completed');
  await ask('page: after the form', `GET /checkout/${json.id}`, page);
};

/** Pages: status and headers. */
export const pages = async (corpus: Corpus, lives: Lives): Promise<void> => {
  await system(corpus);
  await dashboardFiles(corpus);
  const ask = corpus.door('checkout');
  await showPages(ask, lives);
  const { text } = await corpus.florin.client.call('GET', `/checkout/${lives.untouched}`);
  for (const ending of ['js', 'css', 'svg']) {
    const name = assetOf(corpus, text, ending);
    await ask(`file: ${ending}`, `GET /checkout/assets/${name}`, page);
    await ask(`file: ${ending}, one level deeper`, `GET /checkout/${lives.untouched}/assets/${name}`, page);
  }
  await ask('file: unknown', 'GET /checkout/assets/nothing.js', page);
  await ask('file: unknown, one level deeper', `GET /checkout/${lives.untouched}/assets/nothing.js`, page);
  await followLive(corpus, lives.untouched);
  await sendForms(corpus, ask);
};
