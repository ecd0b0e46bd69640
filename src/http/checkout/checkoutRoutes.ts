import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type Asset, type CheckoutAssets, checkoutAssets } from '../../checkout/assets.ts';
import { findBrandStyle, logoTypeOf } from '../../checkout/brand.ts';
import { type Language, pickLanguage } from '../../checkout/languages.ts';
import { choice, strict, text } from '../../core/api/fields.ts';
import type { Environment } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { createRecentMap } from '../../core/recentMap.ts';
import { isLogoOf } from '../../engine/access/branding.ts';
import type { Context } from '../../engine/context.ts';
import { TamperedPayment } from '../../engine/payments/paymentAddress.ts';
import { type CheckoutReader, createCheckoutReader } from '../../engine/payments/readCheckout.ts';
import { noSuchPayment } from '../../engine/payments/readPayment.ts';
import { type PayerOutcome, payerOutcomes, simulateCheckout } from '../../engine/payments/simulateCheckout.ts';
import { readLogo } from '../../storage/access/settings.ts';
import type { WantedCheckout } from '../../storage/payments/checkouts.ts';
import { limitSubject } from '../edge/clientAddress.ts';
import type { Call, Reply, Route } from '../edge/route.ts';
import type { ServerOptions } from '../edge/server.ts';
import { checkoutHeaders, pageHeaders } from './checkoutHeaders.ts';
import { type CheckoutPages, createCheckoutPages, type NoticeKind } from './checkoutPages.ts';
import { createLiveCheckouts, defaultLiveLimits, type LiveCheckouts, type LiveLimits } from './liveCheckouts.ts';

const htmlType = 'text/html; charset=utf-8';

type Parts = {
  readonly context: Context;
  readonly assets: CheckoutAssets;
  readonly reader: CheckoutReader;
  readonly pages: CheckoutPages;
  readonly live: LiveCheckouts;
  /** Live streams have their own limit per address, so they do not count as its connections. */
  readonly exempt: (response: ServerResponse) => void;
};

/** Ignores unknown parameters: other sites add their own to shared links. */
const parameterOf = (request: FastifyRequest, name: 'lang' | 'have'): string | undefined => {
  const value = ((request.query ?? {}) as Partial<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
};
const askedLanguage = (request: FastifyRequest): string | undefined => parameterOf(request, 'lang');

const languageOf = (request: FastifyRequest): Language =>
  pickLanguage(askedLanguage(request), request.headers['accept-language']);

const wantedOf = ({ environment, params }: Call): WantedCheckout => ({ environment, id: params.id! });

const gzipWish = /(?:^|[\s,])gzip(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;
const takesGzip = ({ headers: { 'accept-encoding': wish } }: FastifyRequest): boolean =>
  wish !== undefined && gzipWish.test(String(wish));
const packed = { 'content-encoding': 'gzip' };

/**
 * The page's script counts down by the server's clock. The time is in a header, so that the bytes of the page stay the
 * same.
 */
const timeHeader = (nowMs: number): string => `clock;desc="${new Date(nowMs).toISOString()}"`;

const showPage = async ({ context, reader, pages }: Parts, call: Call): Promise<Reply> => {
  const { view, origins } = await reader.read(wantedOf(call));
  const language = languageOf(call.request);
  const headers = { ...pageHeaders(language.tag, origins), 'server-timing': timeHeader(context.clock.nowMs()) };
  if (!takesGzip(call.request)) return { body: pages.page(view, language), contentType: htmlType, headers };
  return { body: pages.packedPage(view, language), contentType: htmlType, headers: { ...headers, ...packed } };
};

const matches = (request: FastifyRequest, tag: string): boolean =>
  String(request.headers['if-none-match'] ?? '')
    .split(',')
    .some(each => each.trim().replace(/^(?!W\/)/, 'W/') === tag);

/** Pages without a live stream poll this. Most of the time nothing has changed. */
const showMain = async ({ reader, pages }: Parts, call: Call): Promise<Reply> => {
  const { view, origins } = await reader.read(wantedOf(call));
  const language = languageOf(call.request);
  // Weak, because compressed and uncompressed bodies share the tag.
  const etag = `W/"${view.version}.${language.tag}"`;
  const headers = { ...pageHeaders(language.tag, origins), 'cache-control': 'private, no-cache', etag };
  if (matches(call.request, etag)) return { status: 304, body: '', contentType: htmlType, headers };
  if (!takesGzip(call.request)) return { body: pages.main(view, language), contentType: htmlType, headers };
  return { body: pages.packedMain(view, language), contentType: htmlType, headers: { ...headers, ...packed } };
};

const followLive = async ({ reader, live, exempt }: Parts, call: Call): Promise<Reply> => {
  const wanted = wantedOf(call);
  const checkout = await reader.read(wanted);
  const language = languageOf(call.request);
  const lastEventId = call.request.headers['last-event-id'];
  // After a reconnect, Last-Event-ID is newer than the version in the URL, which the browser sends unchanged.
  const has = lastEventId === undefined ? parameterOf(call.request, 'have') : String(lastEventId);
  const listening = { wanted, checkout, language, has };
  const headers = {
    ...pageHeaders(language.tag, checkout.origins),
    'cache-control': 'no-store, no-transform',
    // nginx buffers responses unless this header turns it off.
    'x-accel-buffering': 'no',
  };
  // Last, so that a failure above does not take a slot.
  const slot = live.admit(wanted, limitSubject(call.address));
  return {
    body: '',
    contentType: 'text/event-stream; charset=utf-8',
    headers,
    stream: {
      open(response) {
        exempt(response);
        live.listen(slot, response, listening);
      },
      drop: () => slot.drop(),
    },
  };
};

/** Redirects to the page. The path is relative, because a proxy may serve the page under a prefix. */
const backToPage = ({ request, params }: Call): Reply => {
  const { tag } = languageOf(request);
  const asked = askedLanguage(request) === undefined ? '' : `?lang=${tag}`;
  const headers = { ...pageHeaders(tag), location: `../${params.id!}${asked}` };
  return { status: 303, body: '', contentType: htmlType, headers };
};

const simulateForm = Type.Object(
  { token: text('Token of the page.'), outcome: choice(payerOutcomes, 'Outcome to simulate.') },
  strict,
);

const simulate = async ({ context }: Parts, call: Call): Promise<Reply> => {
  await simulateCheckout(context, wantedOf(call), call.body!.value as { token: string; outcome: PayerOutcome });
  return backToPage(call);
};

/** If the form is answered with an error page, its URL is that of the form. A reload of that page comes here. */
const afterSimulate = (call: Call): Reply => {
  if (!isId('payment', call.params.id!)) throw noSuchPayment();
  return backToPage(call);
};

type Served = Asset & { readonly packedBody: Buffer };

const keptBrandBytes = 4 * 1024 * 1024;

/** The logo was checked when it was uploaded. Its name has the hash of its bytes, and includes the type. */
const findLogo = async (context: Context, environment: Environment, name: string): Promise<Asset | null> => {
  const contentType = logoTypeOf(name);
  const body = contentType === null ? null : await readLogo(context.db, environment, name);
  return body && isLogoOf(name, body) ? { name, contentType: contentType!, body } : null;
};

/** File names change with their contents, so browsers cache them for a year. */
const serveAssets = ({ context, assets }: Pick<Parts, 'context' | 'assets'>): ((call: Call) => Promise<Reply>) => {
  const served = (asset: Asset): Served => ({ ...asset, packedBody: gzipSync(asset.body, { level: 9 }) });
  const byName = new Map([assets.css, assets.script, assets.icon].map(asset => [asset.name, served(asset)]));
  const kept = createRecentMap<Served>(keptBrandBytes, (_, { body, packedBody }) => body.length + packedBody.length);
  const findBranded = async (environment: Environment, name: string): Promise<Served | null> => {
    const key = `${environment} ${name}`;
    const known = kept.get(key);
    if (known) return known;
    const found = findBrandStyle(assets, name) ?? (await findLogo(context, environment, name));
    if (!found) return null;
    const made = served(found);
    kept.set(key, made);
    return made;
  };
  const headers = {
    ...checkoutHeaders(),
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'Accept-Encoding',
  };
  return async ({ params, request, environment }) => {
    const asset = byName.get(params.name!) ?? (await findBranded(environment, params.name!));
    if (!asset) throw new FlorinError('not_found', 'There is no such file.');
    const { contentType, body, packedBody } = asset;
    if (!takesGzip(request)) return { body, contentType, headers };
    return { body: packedBody, contentType, headers: { ...headers, ...packed } };
  };
};

const routesOf = (parts: Parts): Route[] => {
  const page = { tag: 'Checkout', access: 'public' } as const;
  const show = { ...page, method: 'GET', alsoHead: true } as const;
  const files = { ...show, summary: 'Style, script and icon', handle: serveAssets(parts) };
  return [
    { ...show, path: '/checkout/:id', summary: "A payment's page", handle: call => showPage(parts, call) },
    {
      ...show,
      path: '/checkout/:id/main',
      summary: 'The part of the page that changes',
      handle: call => showMain(parts, call),
    },
    { ...files, path: '/checkout/assets/:name' },
    // An error page that answers the form has a URL one level deeper, so its relative links point here.
    { ...files, path: '/checkout/:id/assets/:name' },
    {
      ...page,
      method: 'GET',
      path: '/checkout/:id/live',
      summary: 'Live updates of the page',
      handle: call => followLive(parts, call),
    },
    {
      ...page,
      method: 'POST',
      path: '/checkout/:id/simulate',
      summary: 'Simulate a payment, in the sandbox',
      takesForm: true,
      body: simulateForm,
      handle: call => simulate(parts, call),
    },
    { ...show, path: '/checkout/:id/simulate', summary: 'Redirect to the page', handle: afterSimulate },
  ];
};

const noticeOf = (error: FlorinError, cause: unknown): NoticeKind => {
  if (cause instanceof TamperedPayment) return 'blocked';
  return error.code === 'not_found' ? 'unknown' : 'unavailable';
};

/** The checkout pages and the live streams that update them. */
export const createCheckoutSite = (
  context: Context,
  limits: Partial<LiveLimits> = {},
  exempt: Parts['exempt'] = () => {},
): { routes: Route[]; errorPage: ServerOptions['errorPage']; stop(): Promise<void> } => {
  const assets = checkoutAssets();
  const pages = createCheckoutPages(assets, context.clock.nowMs);
  const reader = createCheckoutReader(context);
  const live = createLiveCheckouts(reader, pages, context.log, { ...defaultLiveLimits, ...limits });
  return {
    routes: routesOf({ context, assets, reader, pages, live, exempt }),
    errorPage(request, error, cause) {
      if (!/^\/checkout(?:[/?]|$)/.test(request.url)) return null;
      const language = languageOf(request);
      const body = pages.notice(noticeOf(error, cause), language);
      return { status: error.status, body, contentType: htmlType, headers: pageHeaders(language.tag) };
    },
    stop: () => live.stop(),
  };
};
