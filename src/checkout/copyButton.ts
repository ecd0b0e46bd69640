import { type Html, html } from '../core/html.ts';
import type { SentenceKey } from './catalogue.ts';
import type { Speech } from './speech.ts';

/** Hidden until the script shows it. It copies the plain string, however the page formats it. */
export const copyButton = (speech: Speech, plain: string, label: SentenceKey): Html =>
  html`<button type="button" class="copy" data-copy="${plain}" data-copied="${speech.text('copied')}" aria-label="${speech.text(label)}" hidden>${speech.text('copy')}</button>`;
