import type { CheckoutView } from '../core/checkoutView.ts';
import { type Html, html } from '../core/html.ts';
import type { Asset, CheckoutAssets } from './assets.ts';
import type { SentenceKey } from './catalogue.ts';
import { languages } from './languages.ts';
import type { Speech } from './speech.ts';

const simulations: readonly (readonly [outcome: string, label: SentenceKey])[] = [
  ['paid', 'simulatePaid'],
  ['underpaid', 'simulateUnderpaid'],
  ['overpaid', 'simulateOverpaid'],
  ['late', 'simulateLate'],
  ['wrong_token', 'simulateWrongToken'],
];

const simulatePanel = (view: CheckoutView, speech: Speech): Html | null =>
  view.simulateToken === null
    ? null
    : html`<details><summary>${speech.text('simulate')}</summary><form method="post" action="${encodeURIComponent(view.id)}/simulate?lang=${speech.language.tag}" data-simulate><input type="hidden" name="token" value="${view.simulateToken}">${simulations.map(
        ([outcome, label]) => html`<button name="outcome" value="${outcome}">${speech.text(label)}</button>`,
      )}</form></details>`;

export const sandboxBanner = (view: CheckoutView, speech: Speech): Html | null =>
  view.environment === 'sandbox'
    ? html`<aside class="sandbox"><p>${speech.text('sandbox')}</p>${simulatePanel(view, speech)}</aside>`
    : null;

const letters = new Intl.Segmenter();

/** The first visible letter, which may be several code points. */
const initialOf = (name: string, locale: string): string => {
  const [first] = letters.segment(name.trim());
  return (first?.segment ?? '').toLocaleUpperCase(locale);
};

/** The logo has an empty alt text, because the name is beside it. */
const markOf = ({ merchantName, brand }: CheckoutView, { language }: Speech): Html =>
  brand?.logo
    ? html`<img class="logo" src="assets/${brand.logo}" alt="">`
    : html`<span class="mark" aria-hidden="true">${initialOf(merchantName, language.locale)}</span>`;

export const merchantMark = (view: CheckoutView, speech: Speech): Html =>
  html`<p class="shop">${markOf(view, speech)}<bdi>${view.merchantName}</bdi></p>`;

/** Loads the same page in another language. Other query parameters are not needed. */
const languageForm = (speech: Speech): Html => {
  const options = languages.map(
    ({ tag, name, dir }) =>
      html`<option value="${tag}" lang="${tag}" dir="${dir}"${tag === speech.language.tag ? html` selected` : null}>${name}</option>`,
  );
  return html`<form method="get" data-language><label class="quiet" for="lang">${speech.text('language')}</label><select id="lang" name="lang" autocomplete="off">${options}</select><button>${speech.text('changeLanguage')}</button></form>`;
};

/** The icon of the page in the browser. */
export type PageIcon = Pick<Asset, 'name' | 'contentType'>;

export type Frame = {
  readonly speech: Speech;
  readonly assets: Pick<CheckoutAssets, 'script'> & { readonly css: string; readonly icon: PageIcon };
  readonly title: string;
  /** Whether the page reloads itself when scripts are off, because it can still change. */
  readonly isRefreshed: boolean;
  readonly banner: Html | null;
  readonly merchant: Html | null;
  readonly main: Html;
};

/** What the script needs to follow the payment; null for a page without a payment. */
export type Live = { readonly id: string; readonly version: string };

const refreshSeconds = 10;

const headOf = ({ assets, title, isRefreshed }: Frame, live: Live | null): Html => html`<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no">
<title>${title}</title>
<link rel="icon" type="${assets.icon.contentType}" href="assets/${assets.icon.name}">
<link rel="stylesheet" href="assets/${assets.css}">
${live === null ? null : html`<script type="module" src="assets/${assets.script.name}"></script>`}
${isRefreshed ? html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}"></noscript>` : null}
</head>`;

const statusLines = ({ text }: Speech): Html =>
  html`<p id="announce" role="status" class="quiet"></p>
<p id="connection" role="status" hidden data-offline="${text('offline')}" data-slow="${text('reconnecting')}"></p>`;

/** All URLs are relative, because the operator may serve the page under another origin and path. */
export const documentOf = (frame: Frame, live: Live | null): Html => {
  const { speech, banner, merchant, main } = frame;
  const { tag, dir } = speech.language;
  const place = live === null ? null : html` data-id="${live.id}" data-version="${live.version}"`;
  return html`<!doctype html>
<html lang="${tag}" dir="${dir}">
${headOf(frame, live)}
<body${place}>
${banner}
<header>${merchant}${languageForm(speech)}</header>
${live === null ? null : statusLines(speech)}
${main}
</body>
</html>
`;
};
