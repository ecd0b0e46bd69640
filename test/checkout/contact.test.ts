import { describe, expect, test } from 'vitest';
import { type Language, languages } from '../../src/checkout/languages.ts';
import { renderMain } from '../../src/checkout/page.ts';
import type { CheckoutState, CheckoutView } from '../../src/core/checkoutView.ts';
import { readSupportContact } from '../../src/core/supportContact.ts';
import { nowMs, states, viewIn } from './checkoutViews.ts';
import { type Element, elementsOf, find, parseMarkup, textOf } from './markup.ts';

const english = languages[0]!;
const mainOf = (view: CheckoutView, language: Language = english): Element =>
  parseMarkup(renderMain(view, { language, nowMs }));

const isContact = ({ attributes }: Element): boolean => attributes.get('class') === 'contact';
/** The contact links. The link back to the shop is not one of them. */
const contactsOf = (root: Element): Element[] =>
  elementsOf(root)
    .filter(isContact)
    .flatMap(elementsOf)
    .filter(({ name }) => name === 'a');

const mail = 'help@acme.example';
const page = 'https://acme.example/help?about=payments';

/** States in which the page asks the payer to contact the merchant. */
const asking: ReadonlySet<CheckoutState> = new Set([
  'notPayable',
  'overpaid',
  'expired',
  'expiredWithFunds',
  'reversed',
]);
const funds = { amountReceived: '3.00', exception: 'underpaid' } as const;

describe.each(languages)('in $tag', language => {
  const sentence = language.words.contact.replace('{merchant}', 'Acme');
  const subject = encodeURIComponent(`${language.words.paymentId}: ${viewIn('waiting').id}`);

  test.each(states)('a payment that is %s leads to the merchant where it says to ask him, once', state => {
    const shown = contactsOf(mainOf(viewIn(state, { supportContact: mail }), language));
    expect(shown.map(textOf)).toEqual(asking.has(state) ? [`${sentence} ${mail}`] : []);
    for (const { attributes } of shown) {
      expect(attributes.get('href')).toBe(`mailto:help@acme.example?subject=${subject}`);
      expect(attributes.get('rel')).toBe('noopener noreferrer');
      expect(attributes.has('target')).toBe(false);
    }
  });

  test.each(states)('a payment that is %s leads there once where stray money came', state => {
    const [shown, ...more] = contactsOf(mainOf(viewIn(state, { supportContact: page, hasStrays: true }), language));
    expect(more).toEqual([]);
    expect(textOf(shown!)).toBe(`${sentence} acme.example`);
    expect(Object.fromEntries(shown!.attributes)).toEqual({
      class: 'button',
      href: page,
      target: '_blank',
      rel: 'noopener noreferrer',
    });
  });

  test('so does one that was canceled once money came', () => {
    const linksOf = (changes: Partial<CheckoutView>): number =>
      contactsOf(mainOf(viewIn('canceled', { supportContact: mail, ...changes }), language)).length;
    expect([linksOf({}), linksOf(funds)]).toEqual([0, 1]);
  });
});

test.each(states)('a payment that is %s leads nowhere where the merchant has named nothing', state => {
  for (const hasStrays of [true, false]) {
    for (const supportContact of [
      null,
      '',
      'javascript:alert(1)',
      'http://acme.example/',
      'mailto:help@acme.example',
    ]) {
      expect(contactsOf(mainOf(viewIn(state, { supportContact, hasStrays })))).toEqual([]);
    }
  }
});

test('one who has let the time pass finds it with the help for who has sent already', () => {
  const help = find(
    mainOf(viewIn('expired', { supportContact: mail })),
    ({ attributes }) => attributes.get('class') === 'help',
  );
  expect(contactsOf(help)).toHaveLength(1);
});

test('it follows what the page says, and stands before the sums', () => {
  const markup = renderMain(viewIn('expiredWithFunds', { supportContact: mail }), { language: english, nowMs });
  const places = ['class="lead"', 'class="contact"', 'class="facts"', 'class="details"'].map(part =>
    markup.indexOf(part),
  );
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

test('a name that means something in an address is written so that it does not', () => {
  const [link] = contactsOf(mainOf(viewIn('reversed', { supportContact: 'help+pay@acme.example' })));
  expect(link!.attributes.get('href')).toMatch(/^mailto:help%2Bpay@acme\.example\?subject=/);
});

test('what is read once is read the same again', () => {
  for (const given of [
    'Help@ACME.example',
    'a@münchen.example',
    'https://ACME.example',
    'https://acme.example/ü "x"',
  ]) {
    const { kind, text } = readSupportContact(given)!;
    expect(readSupportContact(text)).toEqual({ kind, text });
  }
});
