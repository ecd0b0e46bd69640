import type { Answer } from '../../support/send.ts';
import type { Corpus } from '../corpusScene.ts';
import type { Lives } from './paymentLives.ts';

const filters: readonly string[] = [
  'limit=1',
  'limit=2&offset=1',
  'limit=1&offset=1000',
  'limit=1&status=pending',
  'limit=1&status=confirming',
  'limit=1&status=completed',
  'limit=1&status=canceled',
  'limit=1&status=reversed',
  'limit=1&status=expired',
  'limit=1&currency=dai',
  'limit=1&currency=DOGE',
  'limit=1&network=polygon',
  'limit=1&network=base&currency=USDT&status=completed',
  'externalId=life%20paid',
  'externalId=nothing',
  'address=nothing',
  'limit=1&from=2020-01-01',
  'from=2020-01-01&to=2020-12-31',
  'limit=1&to=2099-01-01T00:00:00Z',
  'to=2020-01-01T00:00:00%2B02:00',
];

const refused: readonly string[] = [
  'limit=0',
  'limit=101',
  'limit=1e1',
  'limit=-1',
  'limit=',
  'limit=ten',
  'limit=1&limit=2',
  'offset=-1',
  'offset=99999999999999999999',
  'offset=1.5',
  'status=paid',
  'status=',
  'status=pending&status=completed',
  'currency=',
  `currency=${'x'.repeat(21)}`,
  'currency=%00',
  'network=mars',
  'network=BASE',
  'address=',
  `address=${'x'.repeat(101)}`,
  'externalId=',
  `externalId=${'x'.repeat(256)}`,
  'from=yesterday',
  'from=2026-02-30',
  'from=2026-01-01T25:00',
  'to=',
  `to=${'1'.repeat(65)}`,
  'from=2026-02-01&to=2026-01-01',
  'page=2',
  'sort=amount',
  'limit=1&__proto__=1',
];

const environments = ['sandbox', 'production'] as const;

/** GET /v1/payments and GET /v1/payments/:id. */
export const paymentLists = async (corpus: Corpus, lives: Lives): Promise<void> => {
  const ask = corpus.door('list');
  for (const filter of [...filters, ...refused]) await ask(filter, `GET /v1/payments?${filter}`);
  const { json: paid } = await ask('the payment to look for', `GET /v1/payments/${lives.paid}`);
  const found = (name: string, query: string): Promise<Answer> => ask(name, `GET /v1/payments?${query}`);
  await found('by address', `address=${paid.address}`);
  await found('by address in lower case', `address=${paid.address.toLowerCase()}`);
  await found('by address in upper case', `address=${paid.address.toUpperCase().replace('0X', '0x')}`);
  await found('by the time of creation', `from=${paid.createdAt}&to=${paid.createdAt}`);
  const { keys } = await corpus.florin.account();
  for (const environment of environments) {
    await ask(`empty: ${environment}`, 'GET /v1/payments', { environment, key: keys[environment] });
  }
  await ask('read: in production', `GET /v1/payments/${lives.paid}`, { environment: 'production' });
  await ask('read: an unknown id', `GET /v1/payments/pay_${'0'.repeat(26)}`);
  const upper = lives.paid.toUpperCase();
  corpus.recorder.masks.name(upper, '<id in upper case>');
  await ask('read: an id in upper case', `GET /v1/payments/${upper}`);
  await ask('read: an id of another kind', `GET /v1/payments/evt_${'0'.repeat(26)}`);
  await ask('read: an id that is too long', `GET /v1/payments/${'x'.repeat(500)}`);
  await ask('read: with a slash', `GET /v1/payments/${lives.paid}/`);
  await ask('read: with a query', `GET /v1/payments/${lives.paid}?expand=all`);
  await ask('read: with a body', `GET /v1/payments/${lives.paid}`, { body: {} });
  await ask('read: a bad escape', 'GET /v1/payments/%zz');
};
