import type { CheckoutView } from '../core/checkoutView.ts';
import { type Html, html } from '../core/html.ts';
import { shownConfirmations } from '../core/payment/finality.ts';
import { decimalText, type Speech } from './speech.ts';

/** A ring with one part per required confirmation. */
const ring = (done: number, all: number): Html =>
  html`<circle class="track" cx="24" cy="24" r="20"/><circle class="arc" cx="24" cy="24" r="20" pathLength="${all}" stroke-dasharray="${done} ${all}"/>`;

const drawing = (className: string, shapes: Html): Html =>
  html`<svg class="${className}" viewBox="0 0 48 48" aria-hidden="true" fill="none" stroke-width="5">${shapes}</svg>`;

const soonSeconds = 60;

const expected = (speech: Speech, seconds: number): Html =>
  seconds < soonSeconds
    ? speech.say('expectedSoon')
    : speech.say('expectedTime', { duration: speech.duration(seconds) });

/** Confirmations so far. Under a finality tag there is nothing to count. */
export const progress = (view: CheckoutView, speech: Speech): Html => {
  const { required } = view.confirmations;
  if (required === null)
    return html`<div class="progress">${drawing('ring turning', ring(1, 4))}<p><strong>${speech.say('confirmingFinality')}</strong><span class="hint">${speech.say('expectedFinality')}</span></p></div>`;
  const done = shownConfirmations(view.confirmations);
  const counts = {
    current: decimalText(speech.language, String(done)),
    required: decimalText(speech.language, String(required)),
  };
  const seconds = (required - done) * view.network.blockTimeSeconds;
  return html`<div class="progress">${drawing('ring', ring(done, required))}<p><strong>${speech.say('confirmingCount', counts)}</strong><span class="hint">${expected(speech, seconds)}</span></p></div>`;
};
