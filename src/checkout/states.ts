import { type CheckoutState, type CheckoutView, hasFunds } from '../core/checkoutView.ts';
import { type Html, html } from '../core/html.ts';
import type { SentenceKey } from './catalogue.ts';
import { contact } from './contact.ts';
import { copyButton } from './copyButton.ts';
import { details, row, shortDescription, sumOf } from './details.ts';
import { icons } from './icons.ts';
import { progress } from './progress.ts';
import { receipt, redirect, wayBack } from './receipt.ts';
import type { Speech } from './speech.ts';
import { ways } from './ways.ts';

/** The content of the page in a state. Title and leads are also announced to screen readers. */
export type Scene = {
  readonly title: SentenceKey;
  readonly leads: readonly SentenceKey[];
  readonly badge: Html | null;
  /** For a payable payment: a button that copies the amount, and the description. */
  readonly besideTitle?: Html;
  readonly terms?: Html;
  /** Whether the leads send the payer to the merchant. If so, the contact link follows. */
  readonly asks: boolean;
  readonly body: Html;
};

type Draw = (view: CheckoutView, speech: Speech) => Scene;

/** Joins sentences into one announcement for screen readers. */
export const toldAs = (sentences: readonly string[]): string =>
  sentences.map(sentence => sentence.replace(/[.。]$/u, '')).join('. ');

const badge = (tone: 'good' | 'bad' | 'calm', icon: Html): Html => html`<div class="badge ${tone}">${icon}</div>`;

export const notice = (sentence: Html, tone: 'care' | 'bad' | 'calm' = 'care'): Html =>
  html`<p class="notice ${tone}">${tone === 'calm' ? icons.clock : icons.warning}<span>${sentence}</span></p>`;

const announcedMinutes = [10, 5, 1];

/** Carries the text that the script shows when the time is up, even if the server cannot be reached then. */
const timer = ({ expiresAtMs }: CheckoutView, speech: Speech): Html => {
  const left = announcedMinutes.map(minutes => [minutes, speech.plural('minutesLeft', minutes)]);
  const [title, lead] = [speech.text('timeUpTitle'), speech.text('timeUpLead')];
  const up = JSON.stringify({ title, lead, told: toldAs([title, lead]) });
  return html`<span class="timer" role="timer" aria-live="off" data-until="${new Date(expiresAtMs).toISOString()}" data-left="${JSON.stringify(Object.fromEntries(left))}" data-up="${up}" hidden></span>`;
};

const sums = (view: CheckoutView, speech: Speech): readonly Html[] => [
  row(speech.text('amountAsked'), sumOf(view, speech, view.amount)),
  row(speech.text('received'), sumOf(view, speech, view.amountReceived)),
];

const received = (view: CheckoutView, speech: Speech): Html | null =>
  hasFunds(view) ? html`<dl class="facts">${sums(view, speech)}</dl>` : null;

/** The title names the amount, so it is not repeated. */
const payable =
  (title: SentenceKey, leads: readonly SentenceKey[]): Draw =>
  (view, speech) => {
    const until = html`${speech.time(view.expiresAtMs)} ${timer(view, speech)}`;
    return {
      title,
      leads,
      badge: null,
      asks: false,
      besideTitle: html`${copyButton(speech, view.amountRemaining, 'copyAmount')}${shortDescription(view)}`,
      terms: html`${notice(speech.say('onlyOn'))}<dl class="facts until">${row(speech.text('payBy'), until)}</dl>`,
      body: html`${ways(view, speech)}${details(view, speech, { withoutShortDescription: true })}${wayBack(view, speech)}`,
    };
  };

const notPayable: Draw = (view, speech) => ({
  title: 'notPayableTitle',
  leads: ['notPayableLead'],
  badge: badge('calm', icons.stop),
  asks: true,
  body: html`${received(view, speech)}${details(view, speech)}${wayBack(view, speech)}`,
});

/** The payment expires only once the chain is read up to that time; until then the payer must not send. */
const timeUp: Draw = (view, speech) => ({
  title: 'timeUpTitle',
  leads: hasFunds(view) ? ['timeUpLead', 'timeUpFunds'] : ['timeUpLead'],
  badge: badge('calm', icons.clock),
  asks: false,
  body: html`${received(view, speech)}${details(view, speech)}${wayBack(view, speech)}`,
});

const confirming: Draw = (view, speech) => ({
  title: 'confirmingTitle',
  leads: ['confirmingLead'],
  badge: null,
  asks: false,
  body: html`${progress(view, speech)}${details(view, speech)}${wayBack(view, speech)}`,
});

const paid =
  (lead: SentenceKey, asks: boolean): Draw =>
  (view, speech) => ({
    title: 'completedTitle',
    leads: [lead],
    badge: badge('good', icons.check),
    asks,
    body: html`${redirect(view, speech)}${receipt(view, speech)}`,
  });

/** The contact link is part of the help for payers who already sent, unless it is shown above. */
const expired: Draw = (view, speech) => ({
  title: 'expiredTitle',
  leads: ['expiredLead'],
  badge: badge('calm', icons.clock),
  asks: false,
  body: html`<dl class="facts">${row(speech.text('expiredAt'), speech.time(view.expiresAtMs))}</dl>
<section class="help"><h2>${speech.text('alreadySent')}</h2><p>${speech.say('alreadySentHelp')}</p>${view.hasStrays ? null : contact(view, speech)}</section>
${details(view, speech)}${wayBack(view, speech)}`,
});

const lateLead = ({ exception, amountLate, amountReceived }: CheckoutView): SentenceKey => {
  if (exception !== 'late') return 'tooLittleLead';
  return amountLate === amountReceived ? 'lateLead' : 'lateInPartLead';
};

const expiredWithFunds: Draw = (view, speech) => ({
  title: 'expiredWithFundsTitle',
  leads: [lateLead(view), 'askMerchant'],
  badge: badge('bad', icons.clock),
  asks: true,
  body: html`${received(view, speech)}${details(view, speech)}${wayBack(view, speech)}`,
});

/** Funds can reach a payment that was canceled. */
const canceled: Draw = (view, speech) => ({
  title: 'canceledTitle',
  leads: hasFunds(view) ? ['canceledLead', 'canceledFunds', 'askMerchant'] : ['canceledLead'],
  badge: badge('calm', icons.stop),
  asks: hasFunds(view),
  body: html`${received(view, speech)}${details(view, speech)}${wayBack(view, speech)}`,
});

const reversed: Draw = (view, speech) => ({
  title: 'reversedTitle',
  leads: ['reversedLead'],
  badge: badge('bad', icons.back),
  asks: true,
  body: html`${details(view, speech)}${wayBack(view, speech)}`,
});

export const scenes: Readonly<Record<CheckoutState, Draw>> = {
  waiting: payable('waitingTitle', []),
  underpaid: payable('underpaidTitle', ['underpaidLead']),
  notPayable,
  timeUp,
  confirming,
  completed: paid('completedLead', false),
  overpaid: paid('overpaidLead', true),
  expired,
  expiredWithFunds,
  canceled,
  reversed,
};
