import type { Corpus } from '../corpusScene.ts';
import { ordinary } from './paymentRequests.ts';
import { wallets } from './wallets.ts';

const environment = 'production';
const body = { ...ordinary, network: 'ethereum' };
const form = {
  environment,
  key: null,
  isPage: true,
  body: 'token=x&outcome=paid',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
} as const;

/** Payments of production, without a wallet and with one. */
export const production = async (corpus: Corpus): Promise<void> => {
  const { florin, account } = corpus;
  const ask = corpus.door('production');
  const redirectUrl = 'http://127.0.0.1:9/';
  await ask('no wallet', 'POST /v1/payments', { environment, body });
  await ask('no node', 'POST /v1/payments', { environment, body: ordinary });
  await ask('a redirect to loopback', 'POST /v1/payments', { environment, body: { ...body, redirectUrl } });
  await wallets(corpus);
  // Callers are cached for half a second. Nothing is cached for a new key.
  const { key } = await florin.key(account.id, environment);
  const { json } = await ask('create', 'POST /v1/payments', { environment, key, body });
  await ask('read', `GET /v1/payments/${json.id}`, { environment });
  await ask('read in the sandbox', `GET /v1/payments/${json.id}`);
  await ask('list', 'GET /v1/payments', { environment });
  await ask('simulate', `POST /v1/sandbox/payments/${json.id}/simulate`, { environment, body: { outcome: 'paid' } });
  await ask('page', `GET /checkout/${json.id}`, { environment, key: null, isPage: true });
  await ask('form', `POST /checkout/${json.id}/simulate`, form);
  await ask('events', 'GET /v1/events', { environment });
  await ask('cancel', `POST /v1/payments/${json.id}/cancel`, { environment });
  const sandbox = await florin.key(account.id, 'sandbox');
  const derived = { key: sandbox.key, body: { ...ordinary, network: 'optimism' } };
  await ask('an address of an extended key', 'POST /v1/payments', derived);
};
