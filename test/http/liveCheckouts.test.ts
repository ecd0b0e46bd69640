import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { pickLanguage } from '../../src/checkout/languages.ts';
import type { CheckoutView } from '../../src/core/checkoutView.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import type { Checkout, CheckoutReader } from '../../src/engine/payments/readCheckout.ts';
import { createCheckoutPages } from '../../src/http/checkout/checkoutPages.ts';
import { createLiveCheckouts, defaultLiveLimits, type LiveCheckouts } from '../../src/http/checkout/liveCheckouts.ts';
import { viewIn } from '../checkout/checkoutViews.ts';
import { eventually } from '../support/until.ts';

type Answers = (Checkout | Error)[];
type Question = { readonly wanted: Parameters<CheckoutReader['readAll']>[0]; answer(answers: Answers): void };

const checkout = (id: string, version: string, more: Partial<CheckoutView> = {}): Checkout => ({
  view: viewIn('waiting', { id, version, ...more }),
  origins: [],
  basis: { version, isSlow: false, isOver: false },
});

const limits = { ...defaultLiveLimits, pollMs: 5, perPayment: 2, perAddress: 3, perEnvironment: 4, open: 6 };

let questions: Question[];
let live: LiveCheckouts;
let server: Server;
let joining: { readonly checkout: Checkout; readonly has: string | undefined };
let clients: IncomingMessage[];
let failed: unknown[];

beforeEach(async () => {
  questions = [];
  clients = [];
  failed = [];
  const log: Log = { ...silentLog, error: fields => void failed.push((fields as { paymentId?: unknown }).paymentId) };
  const reader: CheckoutReader = {
    read: () => Promise.reject(new Error('nobody asks for one page here')),
    // Answered when the test says so, as a database may take its time.
    readAll: wanted => {
      const { promise, resolve } = Promise.withResolvers<Answers>();
      questions.push({ wanted, answer: resolve });
      return promise;
    },
  };
  const pages = createCheckoutPages(checkoutAssets(), Date.now);
  live = createLiveCheckouts(reader, pages, log, limits);
  server = createServer((request, response) => {
    const wanted = { environment: 'sandbox', id: joining.checkout.view.id } as const;
    const slot = live.admit(wanted, 'somebody');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const language = pickLanguage(undefined, request.headers['accept-language']);
    live.listen(slot, response, { wanted, language, ...joining });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  for (const { answer } of questions) answer([]);
  await live.stop();
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
});

type Client = { heard(): string[]; isOver(): boolean };

/** Comes with the page as it was read for it, of which it has a version already or none; what it hears. */
const join = async (read: Checkout, has?: string): Promise<Client> => {
  joining = { checkout: read, has };
  const { port } = server.address() as AddressInfo;
  const [incoming] = (await once(get({ port, host: '127.0.0.1', agent: false }), 'response')) as [IncomingMessage];
  clients.push(incoming);
  let text = '';
  incoming.setEncoding('utf8').on('data', chunk => {
    text += chunk;
  });
  incoming.on('error', () => {});
  return {
    heard: () => [...text.matchAll(/^id: (.*)$/gm)].map(match => match[1]!),
    isOver: () => incoming.complete,
  };
};

const asked = async (turn: number): Promise<Question> => {
  await eventually(() => expect(questions.length).toBeGreaterThanOrEqual(turn));
  return questions[turn - 1]!;
};

test('who comes while an answer is on its way is not told what is older than what it came with', async () => {
  const first = await join(checkout('pay_1', 'old'));
  const question = await asked(1);
  const second = await join(checkout('pay_1', 'new'), 'new');
  question.answer([checkout('pay_1', 'old')]);
  (await asked(2)).answer([checkout('pay_1', 'new')]);
  await eventually(() => expect(first.heard()).toEqual(['old', 'new']));
  (await asked(3)).answer([checkout('pay_1', 'newest')]);
  await eventually(() => expect(second.heard()).toEqual(['newest']));
});

test('a page that cannot be shown leaves the others as they are, and is let go of', async () => {
  const [bad, gone, good] = [
    await join(checkout('pay_1', 'old')),
    await join(checkout('pay_2', 'old')),
    await join(checkout('pay_3', 'old')),
  ];
  const unreadable = (version: string) => checkout('pay_1', version, { expiresAtMs: Number.NaN });
  (await asked(1)).answer([checkout('pay_1', 'old')]);
  (await asked(2)).answer([unreadable('new'), new Error('it is not there'), checkout('pay_3', 'new')]);
  await eventually(() => expect(good.heard()).toEqual(['old', 'new']));
  await eventually(() => expect([bad.isOver(), gone.isOver()]).toEqual([true, true]));
  expect([bad.heard(), gone.heard(), failed]).toEqual([['old'], ['old'], ['pay_1', 'pay_2']]);
  const next = await asked(3);
  expect(next.wanted.map(({ id }) => id)).toEqual(['pay_3']);
  next.answer([checkout('pay_3', 'newest')]);
  await eventually(() => expect(good.heard()).toEqual(['old', 'new', 'newest']));
});

test('what is open is brought along to each question, in the newest form there was', async () => {
  const read = checkout('pay_1', 'old');
  await join(read);
  const first = await asked(1);
  expect(first.wanted[0]!.known).toBe(read);
  const newer = checkout('pay_1', 'new');
  first.answer([newer]);
  expect((await asked(2)).wanted[0]!.known).toBe(newer);
});

test('neither a payment nor a client nor an environment takes the room of the others', () => {
  const sandbox = (id: string, subject: string) => live.admit({ environment: 'sandbox', id }, subject);
  const refused = (code: string) => expect.objectContaining({ code });
  const first = sandbox('pay_1', 'a');
  sandbox('pay_1', 'b');
  expect(() => sandbox('pay_1', 'c')).toThrow(refused('rate_limit_exceeded'));
  sandbox('pay_2', 'a');
  sandbox('pay_3', 'a');
  expect(() => live.admit({ environment: 'production', id: 'pay_4' }, 'a')).toThrow(refused('rate_limit_exceeded'));
  expect(() => sandbox('pay_4', 'c')).toThrow(refused('service_unavailable'));
  for (const id of ['pay_5', 'pay_6']) live.admit({ environment: 'production', id }, 'd');
  expect(() => live.admit({ environment: 'production', id: 'pay_7' }, 'e')).toThrow(refused('service_unavailable'));
  first.drop();
  sandbox('pay_1', 'c');
});
