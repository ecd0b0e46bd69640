import { type Html, html } from '../core/html.ts';

/** Decorative: the text beside them says the same. */
const icon = (shapes: Html): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${shapes}</svg>`;

export const icons = {
  check: icon(html`<path d="m6 12.5 4 4 8-9"/>`),
  warning: icon(html`<path d="M12 4 2.8 20h18.4L12 4Zm0 6v4.5m0 2.8v.2"/>`),
  stop: icon(html`<path d="m7 7 10 10M17 7 7 17"/>`),
  clock: icon(html`<path d="M12 6.5V12l3.5 2M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18Z"/>`),
  back: icon(html`<path d="M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3"/>`),
  out: icon(html`<path d="M14 4h6v6M20 4l-9 9M18 14v5a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1h5"/>`),
} as const;
