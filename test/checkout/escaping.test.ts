import { expect, inject, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { languages } from '../../src/checkout/languages.ts';
import { renderPage } from '../../src/checkout/page.ts';
import type { CheckoutState, CheckoutView } from '../../src/core/checkoutView.ts';
import { crowded, nowMs } from './checkoutViews.ts';
import { hostileTexts } from './hostileTexts.ts';
import { type Element, elementsOf, parseMarkup, shapeOf, textOf } from './markup.ts';

const assets = checkoutAssets();
const renderedOf = (view: CheckoutView): string => renderPage(view, { language: languages[0]!, nowMs, assets });
const pageOf = (view: CheckoutView): Element => parseMarkup(renderedOf(view));

type Change = (view: CheckoutView, text: string) => CheckoutView;

const texts: Readonly<Record<string, Change>> = {
  merchantName: (view, merchantName) => ({ ...view, merchantName }),
  description: (view, description) => ({ ...view, description }),
  currency: (view, currency) => ({ ...view, currency }),
  id: (view, id) => ({ ...view, id }),
  version: (view, version) => ({ ...view, version }),
  simulateToken: (view, simulateToken) => ({ ...view, simulateToken }),
  address: (view, address) => ({ ...view, address }),
  contract: (view, contract) => ({ ...view, contract }),
  baseUnits: (view, baseUnits) => ({ ...view, baseUnits }),
  'network.name': (view, name) => ({ ...view, network: { ...view.network, name } }),
  'network.walletRpcUrl': (view, walletRpcUrl) => ({ ...view, network: { ...view.network, walletRpcUrl } }),
  'network.explorerUrl': (view, explorerUrl) => ({ ...view, network: { ...view.network, explorerUrl } }),
  'network.nativeCurrency.symbol': (view, symbol) => ({
    ...view,
    network: { ...view.network, nativeCurrency: { ...view.network.nativeCurrency, symbol } },
  }),
  'transactions.hash': (view, hash) => ({ ...view, transactions: view.transactions.map(each => ({ ...each, hash })) }),
};

const addresses: readonly Change[] = [
  (view, redirectUrl) => ({ ...view, redirectUrl }),
  (view, paymentUri) => ({ ...view, paymentUri }),
  (view, explorerUrl) => ({ ...view, transactions: view.transactions.map(each => ({ ...each, explorerUrl })) }),
];
const contacts: Readonly<Record<string, (text: string) => string>> = {
  'the whole': text => text,
  'a page': text => `https://acme.example/${text}`,
  'a query': text => `https://acme.example/?q=${text}#${text}`,
  'a name': text => `${text}@acme.example`,
  'a host': text => `help@${text}`,
};

/** Together these states show every part with a text. */
const shown: readonly CheckoutState[] = ['underpaid', 'overpaid'];

test('there are 500 hostile texts, all different', () => {
  expect(new Set(hostileTexts).size).toBe(500);
});

const all =
  (changes: readonly Change[]): Change =>
  (view, text) =>
    changes.reduce((changed, change) => change(changed, text), view);

/** All texts in one page: a page for each would show the same and take a minute. */
test('every text stays text, whatever it says', () => {
  const change = all(Object.values(texts));
  for (const state of shown) {
    const view = crowded(state);
    const shapes = new Map<number, string>();
    for (const text of hostileTexts) {
      const { length } = [...text];
      const harmless = shapes.get(length) ?? shapeOf(pageOf(change(view, 'x'.repeat(length))));
      shapes.set(length, harmless);
      expect(shapeOf(pageOf(change(view, text))), text).toBe(harmless);
    }
  }
});

test.each(Object.keys(texts))('%s is on a page', field => {
  const pagesWith = (text: string) => shown.map(state => renderedOf(texts[field]!(crowded(state), text)));
  expect(pagesWith('12345678')).not.toEqual(pagesWith('87654321'));
});

test('what the merchant wrote is shown as it was written', () => {
  for (const text of hostileTexts) {
    const page = textOf(pageOf({ ...crowded('underpaid'), merchantName: text, description: text }));
    expect(page.split(text).length, text).toBeGreaterThan(3);
  }
});

const allowed = /^(?:https:\/\/|ethereum:|mailto:[A-Za-z0-9_%.-]+@[a-z0-9.-]+\?subject=|assets\/|$)/;

const isWrong = ({ name, attributes }: Element): boolean =>
  [...attributes].some(
    ([attribute, value]) =>
      /^on|^style$|^srcdoc$/i.test(attribute) ||
      ((attribute === 'href' || attribute === 'src') && !allowed.test(value)),
  ) ||
  (name === 'script' && attributes.get('src') !== `assets/${assets.script.name}`);

const withAddresses = all(addresses);
/** Every fifth in `npm test`; the test of texts above takes all of them. */
const addressTexts = hostileTexts.filter((_, index) => inject('isThorough') || index % 5 === 0);

test.each(Object.keys(contacts))(
  'an address, %s of the contact among them, leads over https, to a wallet or mail',
  part => {
    for (const state of shown) {
      for (const text of addressTexts) {
        const view = { ...withAddresses(crowded(state), text), supportContact: contacts[part]!(text) };
        expect(elementsOf(pageOf(view)).filter(isWrong), text).toEqual([]);
      }
    }
  },
);

test('no page has a script or a style of its own', () => {
  const page = pageOf(crowded('underpaid'));
  expect(elementsOf(page).filter(({ name }) => name === 'style')).toEqual([]);
  expect(
    elementsOf(page)
      .filter(({ name }) => name === 'script')
      .map(textOf),
  ).toEqual(['']);
});
