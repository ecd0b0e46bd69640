import type { CheckoutView } from '../core/checkoutView.ts';
import { type Html, html } from '../core/html.ts';
import { contactLink } from './safeUrl.ts';
import type { Speech } from './speech.ts';

/**
 * A link to the merchant, for a payer whose funds need attention; null if the merchant gave no contact. The address is
 * shown too, because not every browser can open mail. A web page opens in a new tab, so that this page keeps updating.
 */
export const contact = ({ id, supportContact }: CheckoutView, speech: Speech): Html | null => {
  const link = contactLink(supportContact, `${speech.text('paymentId')}: ${id}`);
  if (link === null) return null;
  const target = link.href.startsWith('mailto:') ? null : html` target="_blank"`;
  return html`<p class="contact"><a class="button" href="${link.href}"${target} rel="noopener noreferrer"><span>${speech.say('contact')}</span> <bdi class="hint" dir="ltr" translate="no">${link.label}</bdi></a></p>`;
};
