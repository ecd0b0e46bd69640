import type { CheckoutView } from '../core/checkoutView.ts';
import { type Html, html } from '../core/html.ts';
import { contactLink } from './safeUrl.ts';
import type { Speech } from './speech.ts';

/**
 * The way to the merchant, for a payer whose money waits for him; nothing where he has named none. The address is shown as
 * well: not every browser has a program for mail. A page opens beside this one, which goes on telling what happens.
 */
export const contact = ({ id, supportContact }: CheckoutView, speech: Speech): Html | null => {
  const link = contactLink(supportContact, `${speech.text('paymentId')}: ${id}`);
  if (link === null) return null;
  const target = link.href.startsWith('mailto:') ? null : html` target="_blank"`;
  return html`<p class="contact"><a class="button" href="${link.href}"${target} rel="noopener noreferrer"><span>${speech.say('contact')}</span> <bdi class="hint" dir="ltr" translate="no">${link.label}</bdi></a></p>`;
};
