import { until } from '../../support/until.ts';
import type { Ask, Corpus } from '../corpusScene.ts';
import { ordinary } from './paymentRequests.ts';

/** Asks the log of an endpoint, unrecorded, until its newest delivery is as wanted. */
const reached = async ({ florin, account }: Corpus, endpointId: string, status: string, attempts: number) => {
  const path = `/v1/webhooks/${endpointId}/deliveries`;
  const { json } = await until(
    () => florin.client.call('GET', path, { key: account.keys.sandbox }),
    answer => answer.json.data[0]?.status === status && answer.json.data[0].attempts === attempts,
  );
  return json.data[0].id as string;
};

const succeed = async (corpus: Corpus, ask: Ask): Promise<void> => {
  const { receiver } = corpus;
  receiver.answer = response => response.writeHead(200, { 'content-type': 'text/plain' }).end('thanks, "merci"');
  const body = { url: `${receiver.url}/hook`, events: ['payment.created'] };
  const { json: endpoint } = await ask('endpoint', 'POST /v1/webhooks', { body });
  const { json: payment } = await ask('payment', 'POST /v1/payments', { body: ordinary });
  const id = await reached(corpus, endpoint.id, 'succeeded', 1);
  await ask('succeeded', `GET /v1/deliveries/${id}`);
  await ask('the log', `GET /v1/webhooks/${endpoint.id}/deliveries?status=succeeded`);
  await ask('none is scheduled', `GET /v1/webhooks/${endpoint.id}/deliveries?status=scheduled`);
  const { json: events } = await ask('the event', `GET /v1/events?paymentId=${payment.id}`);
  await ask('of the event', `GET /v1/events/${events.data[0].id}/deliveries`);
  await ask('resend', `POST /v1/deliveries/${id}/resend`);
  await reached(corpus, endpoint.id, 'succeeded', 2);
  await ask('sent twice', `GET /v1/deliveries/${id}`);
  const owner = await corpus.dashboard.as('owner');
  const askApp = corpus.appDoor('app deliveries');
  await askApp(owner, 'succeeded', `GET /deliveries/${id}`);
  await askApp(owner, 'the log', `GET /webhooks/${endpoint.id}/deliveries`);
  await askApp(owner, 'timeline', `GET /payments/${payment.id}`);
  await ask('delete the endpoint', `DELETE /v1/webhooks/${endpoint.id}`);
  await ask('resend to a deleted endpoint', `POST /v1/deliveries/${id}/resend`);
  await askApp(owner, 'resend to a deleted endpoint', `POST /deliveries/${id}/resend`);
};

/** A receiver that answers 410 wants no more: the delivery is parked and the endpoint disabled. */
const park = async (corpus: Corpus, ask: Ask): Promise<void> => {
  const { receiver } = corpus;
  receiver.answer = response => response.writeHead(410).end();
  const body = { url: `${receiver.url}/gone` };
  const { json: endpoint } = await ask('endpoint that is gone', 'POST /v1/webhooks', { body });
  await ask('payment for the endpoint', 'POST /v1/payments', { body: ordinary });
  const id = await reached(corpus, endpoint.id, 'parked', 1);
  await ask('parked', `GET /v1/deliveries/${id}`);
  await ask('all that are parked', 'GET /v1/deliveries?status=parked');
  await ask('disabled endpoint', `GET /v1/webhooks/${endpoint.id}`);
  await ask('resend to a disabled endpoint', `POST /v1/deliveries/${id}/resend`);
  const askApp = corpus.appDoor('app parked');
  await askApp(await corpus.dashboard.as('owner'), 'parked', `GET /deliveries/${id}`);
  await askApp(await corpus.dashboard.as('owner'), 'home', 'GET /home?days=1');
};

/** What a Florin that delivers shows of its deliveries. */
export const deliveries = async (corpus: Corpus): Promise<void> => {
  const ask = corpus.door('deliveries');
  await succeed(corpus, ask);
  await park(corpus, ask);
};
