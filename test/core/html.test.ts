import { expect, test } from 'vitest';
import { html, markupOf } from '../../src/core/html.ts';

test('values are escaped for text and for quoted attributes', () => {
  const page = html`<a title="${'"&\'<>'}">${'<script>'} ${5}</a>`;
  expect(markupOf(page)).toBe('<a title="&quot;&amp;&#39;&lt;&gt;">&lt;script&gt; 5</a>');
});

test('every occurrence is escaped', () => {
  expect(markupOf(html`${'<<&&'}`)).toBe('&lt;&lt;&amp;&amp;');
});

test('markup inside markup stays markup, lists are joined without a sign, and null is nothing', () => {
  const items = ['a', '<b>'].map(text => html`<li>${text}</li>`);
  expect(markupOf(html`<ul>${items}${null}${[]}</ul>`)).toBe('<ul><li>a</li><li>&lt;b&gt;</li></ul>');
});

test('backslashes stand as they are written', () => {
  expect(markupOf(html`<p>${'\\n'}</p>`)).toBe('<p>\\n</p>');
});
