import { type CheckoutState, type CheckoutView, checkoutState } from '../core/checkoutView.ts';
import { type Html, html, markupOf } from '../core/html.ts';
import { formatAmount } from '../core/money.ts';
import type { CheckoutAssets } from './assets.ts';
import { brandedAssets } from './brand.ts';
import type { SentenceKey } from './catalogue.ts';
import { contact } from './contact.ts';
import { documentOf, merchantMark, sandboxBanner } from './frame.ts';
import { icons } from './icons.ts';
import type { Language } from './languages.ts';
import { createSpeech, decimalText, type Speech } from './speech.ts';
import { notice, type Scene, scenes, toldAs } from './states.ts';

/** Amounts have at least two decimals, even for a token with fewer. */
const fewestDigits = 2;

const unitsOf = (decimal: string, digits: number): bigint => {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(digits, '0'));
};

/** What was sent beyond the amount; zero if it was less. */
const extraOf = ({ amount, amountReceived, decimals }: CheckoutView): string => {
  const digits = Math.max(decimals, fewestDigits);
  const extra = unitsOf(amountReceived, digits) - unitsOf(amount, digits);
  return formatAmount(extra > 0n ? extra : 0n, digits);
};

const speechFor = (view: CheckoutView, language: Language): Speech => {
  const sum = (decimal: string): string => `${decimalText(language, decimal)} ${view.currency}`;
  return createSpeech(language, {
    merchant: view.merchantName,
    network: view.network.name,
    currency: view.currency,
    coin: view.network.nativeCurrency.symbol,
    amount: sum(view.amount),
    received: sum(view.amountReceived),
    remaining: sum(view.amountRemaining),
    extra: sum(extraOf(view)),
  });
};

/** States in which the payer may have sent money that is not shown yet. */
const awaiting: ReadonlySet<CheckoutState> = new Set(['waiting', 'underpaid', 'timeUp', 'confirming', 'expired']);

type Warning = readonly [key: SentenceKey, tone: 'calm' | 'bad'];

const warningsOf = ({ network, hasStrays }: CheckoutView, state: CheckoutState): readonly Warning[] => [
  ...(network.isSlow && awaiting.has(state) ? [['slowNetwork', 'calm'] as const] : []),
  ...(hasStrays ? [['strays', 'bad'] as const] : []),
];

const mainOf = (view: CheckoutView, state: CheckoutState, scene: Scene, speech: Speech): Html => {
  const warnings = warningsOf(view, state);
  const keys = [scene.title, ...scene.leads, ...warnings.map(([key]) => key)];
  const told = toldAs(keys.map(key => speech.text(key)));
  return html`<main id="payment" tabindex="-1" data-state="${state}" data-version="${view.version}" data-title="${speech.text(scene.title)}" data-announce="${told}">
<div class="about">
${scene.badge}
<h1 tabindex="-1">${speech.say(scene.title)}</h1>${scene.besideTitle ?? null}
${scene.leads.map(lead => html`<p class="lead">${speech.say(lead)}</p>`)}
${warnings.map(([key, tone]) => notice(speech.say(key), tone))}
${scene.asks || view.hasStrays ? contact(view, speech) : null}
${scene.terms ?? null}
</div>
${scene.body}
</main>`;
};

const settled: ReadonlySet<CheckoutState> = new Set(['completed', 'overpaid']);

type Shown = { readonly language: Language; readonly nowMs: number };

/** The part of the page that changes with the payment. */
export const renderMain = (view: CheckoutView, { language, nowMs }: Shown): string => {
  const speech = speechFor(view, language);
  const state = checkoutState(view, nowMs);
  return markupOf(mainOf(view, state, scenes[state](view, speech), speech));
};

export const renderPage = (
  view: CheckoutView,
  { language, nowMs, assets }: Shown & { readonly assets: CheckoutAssets },
): string => {
  const speech = speechFor(view, language);
  const state = checkoutState(view, nowMs);
  const scene = scenes[state](view, speech);
  const frame = {
    speech,
    assets: brandedAssets(assets, view.brand),
    title: speech.text(scene.title),
    isRefreshed: !settled.has(state),
    banner: sandboxBanner(view, speech),
    merchant: merchantMark(view, speech),
    main: mainOf(view, state, scene, speech),
  };
  return markupOf(documentOf(frame, { id: view.id, version: view.version }));
};

export type NoticeKind = 'unknown' | 'blocked' | 'unavailable';

/** A page without a payment: it does not exist, must not be shown, or cannot be read. */
export const renderNotice = (
  kind: NoticeKind,
  { language, assets }: { readonly language: Language; readonly assets: CheckoutAssets },
): string => {
  const speech = createSpeech(language, {});
  const again = html`<div class="return"><a class="button" href="">${speech.text('tryAgain')}</a></div>`;
  const tone = kind === 'blocked' ? 'bad' : 'calm';
  const title = speech.text(`${kind}Title`);
  const main = html`<main id="payment" tabindex="-1" data-notice="${kind}" data-title="${title}">
<div class="badge ${tone}">${kind === 'blocked' ? icons.stop : icons.warning}</div>
<h1 tabindex="-1">${title}</h1>
<p class="lead">${speech.text(`${kind}Lead`)}</p>
${kind === 'unavailable' ? again : null}
</main>`;
  const frame = {
    speech,
    assets: brandedAssets(assets),
    title,
    isRefreshed: kind === 'unavailable',
    banner: null,
    merchant: null,
    main,
  };
  return markupOf(documentOf(frame, null));
};
