import type { CheckoutView } from '../core/checkoutView.ts';
import { type Html, html } from '../core/html.ts';
import { copyButton } from './copyButton.ts';
import { webUrl } from './safeUrl.ts';
import { classOfSum, decimalText, type Speech } from './speech.ts';

/** A limit, because anybody can send dust to an address. */
const mostTransactions = 10;

export const sumOf = (view: CheckoutView, speech: Speech, decimal: string): Html => {
  const text = `${decimalText(speech.language, decimal)} ${view.currency}`;
  return html`<bdi class="${classOfSum(text)}">${text}</bdi>`;
};

export const row = (term: Html | string, value: Html): Html => html`<div><dt>${term}</dt><dd>${value}</dd></div>`;

type Transaction = CheckoutView['transactions'][number];

const hashOf = ({ hash, explorerUrl }: Transaction, speech: Speech): Html | null => {
  if (hash === null) return null;
  const code = html`<code dir="ltr" translate="no">${hash}</code>`;
  const url = webUrl(explorerUrl);
  return url === null
    ? code
    : html`<a href="${url}" target="_blank" rel="noopener noreferrer" title="${speech.text('explorer')}">${code}</a>`;
};

const transactionOf = (view: CheckoutView, speech: Speech, transaction: Transaction): Html => {
  const status = transaction.status === 'confirmed' ? 'transactionConfirmed' : 'transactionConfirming';
  return html`<li>${sumOf(view, speech, transaction.amount)} · ${speech.text(status)} ${hashOf(transaction, speech)}</li>`;
};

const transactionsRow = (view: CheckoutView, speech: Speech): Html | null => {
  const { transactions } = view;
  if (transactions.length === 0) return null;
  const shown = transactions.slice(0, mostTransactions).map(each => transactionOf(view, speech, each));
  const left = transactions.length - mostTransactions;
  const more = left > 0 ? html`<li>${speech.plural('moreTransactions', left)}</li>` : null;
  return row(speech.plural('transactions', transactions.length), html`<ul class="transactions">${shown}${more}</ul>`);
};

/** A longer description would push the QR codes out of sight. */
const longestShort = 160;
const isShort = (description: string): boolean => description.length <= longestShort;

/** The description, if it is short enough to stand beside the amount. */
export const shortDescription = ({ description }: CheckoutView): Html | null =>
  (description ?? '') !== '' && isShort(description!)
    ? html`<p class="description"><bdi dir="auto">${description}</bdi></p>`
    : null;

type Shown = { readonly withoutShortDescription?: boolean };

const descriptionRow = ({ description }: CheckoutView, speech: Speech, shown: Shown): Html | null => {
  if ((description ?? '') === '' || (shown.withoutShortDescription && isShort(description!))) return null;
  return row(speech.text('description'), html`<bdi class="description" dir="auto">${description}</bdi>`);
};

/** Rows that identify the payment: description, network, payment ID and transactions. */
export const identity = (view: CheckoutView, speech: Speech, shown: Shown = {}): readonly (Html | null)[] => [
  descriptionRow(view, speech, shown),
  row(speech.text('network'), html`<bdi>${view.network.name}</bdi>`),
  row(
    speech.text('paymentId'),
    html`<code dir="ltr" translate="no">${view.id}</code>${copyButton(speech, view.id, 'copyPaymentId')}`,
  ),
  transactionsRow(view, speech),
];

export const details = (view: CheckoutView, speech: Speech, shown: Shown = {}): Html =>
  html`<section class="details"><h2>${speech.text('details')}</h2><dl>${identity(view, speech, shown)}</dl></section>`;
