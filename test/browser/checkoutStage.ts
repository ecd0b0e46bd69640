import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { beforeAll } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { pickLanguage } from '../../src/checkout/languages.ts';
import { type NoticeKind, renderMain, renderNotice, renderPage } from '../../src/checkout/page.ts';
import type { CheckoutState, CheckoutView } from '../../src/core/checkoutView.ts';
import { viewIn } from '../checkout/checkoutViews.ts';
import { openBrowser } from './chromium.ts';
import { newContext, openWatched, type WatchedPage } from './watchedPage.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The pages of one payment, rendered by our own code, from a server that does what a test says: fall silent, send what
 * another would, and lose its answers. What is between the payment and the page is tested with the whole service.
 */
export type CheckoutStage = WatchedPage & {
  readonly url: string;
  /** What the server has. Open pages learn of it when they ask, or are told. */
  view: CheckoutView;
  /** In place of the payment. */
  notice: NoticeKind | null;
  /** In place of what the server would answer, by the last part of the path. */
  readonly instead: Map<string, Handle>;
  /** What the page has asked for, by the last part of the path. */
  asked(what: string): IncomingMessage[];
  /** The first word of a stream; null for that of a server whose version the page has. */
  firstWord: string | null;
  /** How many streams are open. */
  streams(): number;
  /** An event on every open stream. */
  tell(event: string, data: string): void;
  open(query?: string): Promise<void>;
};

const assets = checkoutAssets();
const minuteMs = 60_000;

/** A payment of now that may be paid for half an hour, on the chain of the wallet of these tests. */
export const stagedView = (state: CheckoutState, changes: Partial<CheckoutView> = {}): CheckoutView => {
  const view = viewIn(state, changes);
  return {
    ...view,
    redirectUrl: null,
    expiresAtMs: Date.now() + 30 * minuteMs,
    network: { ...view.network, chainId: 31337 },
    ...changes,
  };
};

const eventOf = (event: string, data: string): string =>
  `event: ${event}\n${data
    .split('\n')
    .map(line => `data: ${line}\n`)
    .join('')}\n`;

const lastPart = ({ url }: IncomingMessage): string => url!.split('?')[0]!.split('/').at(-1)!;

const openStage = async (browser: Browser, prepare: (page: Page) => Promise<void>): Promise<CheckoutStage> => {
  const requests: IncomingMessage[] = [];
  const streams = new Set<ServerResponse>();
  const context = await newContext(browser);
  const watched = await openWatched(context);
  const answers: Readonly<Record<string, Handle>> = {
    main(request, response) {
      const language = pickLanguage(new URL(request.url!, stage.url).searchParams.get('lang') ?? undefined, undefined);
      const etag = `"${stage.view.version}.${language.tag}"`;
      const isKnown = request.headers['if-none-match'] === etag;
      response.writeHead(isKnown ? 304 : 200, { 'content-type': 'text/html', etag });
      response.end(isKnown ? '' : renderMain(stage.view, { language, nowMs: Date.now() }));
    },
    live(_, response) {
      streams.add(response);
      response.on('close', () => streams.delete(response));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(stage.firstWord ?? eventOf('same', stage.view.version));
    },
  };
  const showPage: Handle = (request, response) => {
    const language = pickLanguage(new URL(request.url!, stage.url).searchParams.get('lang') ?? undefined, undefined);
    const shown = { language, nowMs: Date.now(), assets };
    const page = stage.notice === null ? renderPage(stage.view, shown) : renderNotice(stage.notice, shown);
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'server-timing': `clock;desc="${new Date().toISOString()}"`,
    };
    response.writeHead(200, headers).end(page);
  };
  const server = createServer((request, response) => {
    requests.push(request);
    const part = lastPart(request);
    const asset = Object.values(assets).find(({ name }) => name === part);
    const handle = stage.instead.get(part) ?? answers[part] ?? showPage;
    if (asset) response.writeHead(200, { 'content-type': asset.contentType }).end(asset.body);
    else handle(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const stage: CheckoutStage = {
    ...watched,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/checkout/`,
    view: stagedView('waiting'),
    notice: null,
    instead: new Map(),
    firstWord: null,
    streams: () => streams.size,
    asked: what => requests.filter(request => lastPart(request) === what),
    tell(event, data) {
      for (const stream of streams) stream.write(eventOf(event, data));
    },
    async open(query = '') {
      await prepare(watched.page);
      await watched.page.goto(stage.url + stage.view.id + query);
    },
    async close() {
      await context.close();
      server.close();
      server.closeAllConnections();
    },
  };
  return stage;
};

/** One Chromium for the tests of a file; each has a stage of its own, which is gone when it ends. */
export const useCheckoutStages = (): ((
  act: (stage: CheckoutStage) => Promise<void>,
  prepare?: (page: Page) => Promise<void>,
) => Promise<void>) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  return async (act, prepare = async () => {}) => {
    const stage = await openStage(browser, prepare);
    try {
      await act(stage);
    } finally {
      await stage.close();
    }
  };
};
