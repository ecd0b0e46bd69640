import type { CheckoutView } from '../core/checkoutView.ts';
import { type Html, html } from '../core/html.ts';
import { identity, row, sumOf } from './details.ts';
import { webUrl } from './safeUrl.ts';
import type { Speech } from './speech.ts';

/** The requested amount is shown only if it differs from the paid one. */
export const receipt = (
  view: CheckoutView,
  speech: Speech,
): Html => html`<section class="details receipt"><h2>${speech.text('receipt')}</h2><dl>${[
  row(speech.text('amountPaid'), sumOf(view, speech, view.amountReceived)),
  view.amountReceived === view.amount ? null : row(speech.text('amountAsked'), sumOf(view, speech, view.amount)),
  row(speech.text('paidTo'), html`<bdi>${view.merchantName}</bdi>`),
  view.completedAtMs === null ? null : row(speech.text('paidAt'), speech.time(view.completedAtMs)),
  ...identity(view, speech),
]}</dl></section>
<p class="actions"><button type="button" data-print hidden>${speech.text('print')}</button></p>`;

const redirectSeconds = 10;

/** The script takes the payer back after a countdown that they can stop. Without it there is only the link. */
export const redirect = (view: CheckoutView, speech: Speech): Html | null => {
  const url = webUrl(view.redirectUrl);
  if (url === null) return null;
  const [before = '', after = ''] = speech.language.words.goingBack.split('{count}');
  return html`<div class="return"><a class="button primary" data-redirect="${redirectSeconds}" href="${url}"><span>${speech.say('backTo')}</span></a>
<p class="hint" hidden>${before}<span data-redirect-count>${redirectSeconds}</span>${after}</p>
<button type="button" data-stay hidden>${speech.text('stayHere')}</button></div>`;
};

/** A link without a countdown, for a payment that is not completed. */
export const wayBack = (view: CheckoutView, speech: Speech): Html | null => {
  const url = webUrl(view.redirectUrl);
  return url === null
    ? null
    : html`<div class="return"><a class="button" href="${url}"><span>${speech.say('backTo')}</span></a></div>`;
};
