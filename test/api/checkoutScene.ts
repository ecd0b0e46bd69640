import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { request as requestSecurely } from 'node:https';
import { expect } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { pickLanguage } from '../../src/checkout/languages.ts';
import { renderNotice } from '../../src/checkout/page.ts';
import type { Log } from '../../src/core/log.ts';
import type { LiveLimits } from '../../src/http/checkout/liveCheckouts.ts';
import type { AccessLine } from '../../src/http/edge/server.ts';
import type { Sending } from '../support/client.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { eventually } from '../support/until.ts';
import { type PaymentCalls, paymentCalls } from './paymentCalls.ts';

export type Alarm = { readonly fields: Record<string, unknown>; readonly message: string };

export type CheckoutScene = {
  readonly florin: TestFlorin;
  readonly account: TestAccount;
  readonly calls: PaymentCalls;
  readonly errors: Alarm[];
  /** The access log. */
  readonly requests: AccessLine[];
  /** Sends a GET below /checkout. */
  get(path: string, sending?: Sending): Promise<Answer>;
  /** Posts the form of the simulate panel. */
  post(id: string, form: string | Record<string, string>, sending?: Sending): Promise<Answer>;
  live(id: string, options?: LiveOptions): Promise<LiveClient>;
  stop(): Promise<void>;
};

type LiveOptions = { lastEventId?: string; query?: string; headers?: Record<string, string> };

export type LiveEvent = { readonly event: string; readonly id: string; readonly data: string };

export type LiveClient = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Events received so far, without heartbeats. */
  readonly events: LiveEvent[];
  readonly beats: () => number;
  /** Everything received, as sent. */
  readonly text: () => string;
  /** Resolves when the server has ended the stream or the connection is lost. */
  readonly ended: Promise<void>;
  /** Resolves with the newest event once it matches. */
  until(isWanted: (event: LiveEvent) => boolean): Promise<LiveEvent>;
  close(): void;
};

const readEvents = (text: string): { events: LiveEvent[]; beats: number } => {
  const blocks = text.split('\n\n').slice(0, -1);
  const field = (block: string, name: string): string[] =>
    block
      .split('\n')
      .filter(line => line.startsWith(`${name}: `))
      .map(line => line.slice(name.length + 2));
  const events = blocks
    .filter(block => field(block, 'event').length > 0)
    .map(block => ({
      event: field(block, 'event')[0]!,
      id: field(block, 'id')[0]!,
      data: field(block, 'data').join('\n'),
    }));
  const isBeat = ({ event }: LiveEvent): boolean => event === 'beat';
  return { events: events.filter(event => !isBeat(event)), beats: events.filter(isBeat).length };
};

/** A client like a browser's EventSource, on its own connection. */
export const openLive = (
  url: string,
  options: { ca?: string; servername?: string; localAddress?: string; headers?: Record<string, string> } = {},
): Promise<LiveClient> =>
  new Promise((resolve, reject) => {
    const ask = url.startsWith('https:') ? requestSecurely : request;
    const sent = ask(url, { agent: false, ...options }, incoming => {
      let text = '';
      const events: LiveEvent[] = [];
      incoming.setEncoding('utf8').on('data', chunk => {
        text += chunk;
        events.splice(0, events.length, ...readEvents(text).events);
      });
      const ended = new Promise<void>(done => incoming.once('close', done));
      incoming.on('error', () => {});
      resolve({
        status: incoming.statusCode!,
        headers: incoming.headers,
        events,
        beats: () => readEvents(text).beats,
        text: () => text,
        ended,
        async until(isWanted) {
          await eventually(() => expect(events.some(isWanted), text).toBe(true));
          return events.findLast(isWanted)!;
        },
        close: () => sent.destroy(),
      });
    });
    sent.once('error', reject);
    sent.end();
  });

/** A whole Florin with an account, seen by payers' browsers. Each request may have its own client address. */
export const startCheckoutScene = async (
  live: Partial<LiveLimits> = {},
  env: Record<string, string> = {},
): Promise<CheckoutScene> => {
  const errors: Alarm[] = [];
  const requests: AccessLine[] = [];
  const quiet = () => {};
  const log: Log = {
    debug: quiet,
    info: (fields, message) => void (message === 'request' && requests.push(fields as AccessLine)),
    warn: quiet,
    error: (fields, message) => void errors.push({ fields: { ...fields }, message }),
  };
  const florin = await startTestFlorin({ log, live, env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1', ...env } });
  const account = await florin.account({ name: 'Acme & Sons <Tea>' });
  const ca = readFileSync(florin.florin.caPath!, 'utf8');
  return {
    florin,
    account,
    calls: paymentCalls(florin, account),
    errors,
    requests,
    get: (path, sending) => florin.client.call('GET', `/checkout/${path}`, sending),
    post: (id, form, { headers, ...sending } = {}) =>
      florin.client.call('POST', `/checkout/${id}/simulate`, {
        ...sending,
        body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
    live: (id, { lastEventId, query = '', headers = {} } = {}) =>
      openLive(`${florin.florin.urls.sandbox}/checkout/${id}/live${query}`, {
        ca,
        headers: { ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }), ...headers },
      }),
    stop: () => florin.stop(),
  };
};

/** The value of an attribute in the page, unescaped. */
export const attributeOf = (page: string, name: string): string | null =>
  new RegExp(` ${name}="([^"]*)"`).exec(page)?.[1]?.replaceAll('&amp;', '&').replaceAll('&quot;', '"') ?? null;

export const tokenOf = (page: string): string | null =>
  attributeOf(/<input[^>]*name="token"[^>]*>/.exec(page)?.[0] ?? '', 'value');

const english = pickLanguage(undefined, undefined);
export const noticePage = (kind: Parameters<typeof renderNotice>[0], language = english): string =>
  renderNotice(kind, { language, assets: checkoutAssets() });

/** The content security policy of every page, with the origins that may frame it. */
export const framePolicy = (ancestors: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors ${ancestors}`;
