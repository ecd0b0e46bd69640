import { expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { languages } from '../../src/checkout/languages.ts';
import { renderPage } from '../../src/checkout/page.ts';
import type { CheckoutState, CheckoutView } from '../../src/core/checkoutView.ts';
import { crowded, nowMs } from './checkoutViews.ts';
import { hostileTexts } from './hostileTexts.ts';
import { type Element, elementsOf, parseMarkup, shapeOf, textOf } from './markup.ts';

const assets = checkoutAssets();
const pageOf = (view: CheckoutView): Element =>
  parseMarkup(renderPage(view, { language: languages[0]!, nowMs, assets }));

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

const addresses: Readonly<Record<string, Change>> = {
  redirectUrl: (view, redirectUrl) => ({ ...view, redirectUrl }),
  supportContact: (view, supportContact) => ({ ...view, supportContact }),
  'a page of supportContact': (view, text) => ({ ...view, supportContact: `https://acme.example/${text}` }),
  'a query of supportContact': (view, text) => ({ ...view, supportContact: `https://acme.example/?q=${text}#${text}` }),
  'a name of supportContact': (view, text) => ({ ...view, supportContact: `${text}@acme.example` }),
  'a host of supportContact': (view, text) => ({ ...view, supportContact: `help@${text}` }),
  paymentUri: (view, paymentUri) => ({ ...view, paymentUri }),
  'transactions.explorerUrl': (view, explorerUrl) => ({
    ...view,
    transactions: view.transactions.map(each => ({ ...each, explorerUrl })),
  }),
};

/** Between them they hold every part that shows a text. */
const shown: readonly CheckoutState[] = ['underpaid', 'overpaid'];

test('there are 500 hostile texts, all different', () => {
  expect(new Set(hostileTexts).size).toBe(500);
});

test.each(Object.keys(texts))('%s stays text, whatever it says', field => {
  const change = texts[field]!;
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

test.each(Object.keys(addresses))('%s leads nowhere but over https, into a wallet or to mail', field => {
  for (const state of shown) {
    for (const text of hostileTexts) {
      expect(elementsOf(pageOf(addresses[field]!(crowded(state), text))).filter(isWrong), text).toEqual([]);
    }
  }
});

test('no page has a script or a style of its own', () => {
  const page = pageOf(crowded('underpaid'));
  expect(elementsOf(page).filter(({ name }) => name === 'style')).toEqual([]);
  expect(
    elementsOf(page)
      .filter(({ name }) => name === 'script')
      .map(textOf),
  ).toEqual(['']);
});
