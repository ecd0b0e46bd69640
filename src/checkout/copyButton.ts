import { type Html, html } from '../core/html.ts';
import type { SentenceKey } from './catalogue.ts';
import type { Speech } from './speech.ts';

/** Hidden until the script can do it. What is copied is the plain string, whatever the page shows beside it. */
export const copyButton = (speech: Speech, plain: string, label: SentenceKey): Html =>
  html`<button type="button" class="copy" data-copy="${plain}" data-copied="${speech.text('copied')}" aria-label="${speech.text(label)}" hidden>${speech.text('copy')}</button>`;
