import { describe, expect, test } from 'vitest';
import { checkoutAssets } from '../../src/checkout/assets.ts';
import { type Language, languages } from '../../src/checkout/languages.ts';
import { renderMain, renderNotice, renderPage } from '../../src/checkout/page.ts';
import { decimalText } from '../../src/checkout/speech.ts';
import type { CheckoutState, CheckoutView } from '../../src/core/checkoutView.ts';
import { address, crowded, nowMs, states, viewIn } from './checkoutViews.ts';
import { type Element, elementsOf, find, parseMarkup, textOf } from './markup.ts';

const assets = checkoutAssets();
const english = languages[0]!;

const page = (view: CheckoutView, language: Language = english): Element =>
  parseMarkup(renderPage(view, { language, nowMs, assets }));
const mainText = (view: CheckoutView, language: Language = english): string =>
  textOf(parseMarkup(renderMain(view, { language, nowMs }))).replaceAll(/\s+/g, ' ');

const mainOf = (view: CheckoutView): Element =>
  find(parseMarkup(renderMain(view, { language: english, nowMs })), ({ name }) => name === 'main');
const announced = (view: CheckoutView): string => mainOf(view).attributes.get('data-announce')!;

const has = (root: Element, attribute: string, value?: string): boolean =>
  elementsOf(root).some(
    ({ attributes }) => attributes.has(attribute) && (value === undefined || attributes.get(attribute) === value),
  );

/** Expects no address to pay to, in any form. */
const expectNoAddress = (markup: string): void => {
  expect(textOf(parseMarkup(markup)).toLowerCase()).not.toContain(address.slice(2).toLowerCase());
  expect(markup.toLowerCase()).not.toContain(address.slice(2).toLowerCase());
  expect(markup).not.toMatch(/ethereum:|data-qr|data-ways|data-wallet/);
};

const payable: ReadonlySet<CheckoutState> = new Set(['waiting', 'underpaid']);

/** The values that a state must show, in the format of the language. */
const named: Readonly<Record<CheckoutState, readonly (keyof CheckoutView)[]>> = {
  waiting: ['amount'],
  underpaid: ['amount', 'amountReceived', 'amountRemaining'],
  notPayable: ['amount', 'amountReceived'],
  timeUp: ['amount', 'amountReceived'],
  confirming: ['amountReceived'],
  completed: ['amountReceived'],
  overpaid: ['amount', 'amountReceived'],
  expired: ['amount'],
  expiredWithFunds: ['amount', 'amountReceived'],
  canceled: [],
  reversed: [],
};

describe.each(languages)('in $tag', language => {
  test.each(states)('a payment that is %s has its whole page', state => {
    const view = crowded(state);
    const root = page(view, language);
    const html = find(root, ({ name }) => name === 'html');
    expect([html.attributes.get('lang'), html.attributes.get('dir')]).toEqual([language.tag, language.dir]);
    const main = find(root, ({ attributes }) => attributes.get('id') === 'payment');
    expect(main.attributes.get('data-state')).toBe(state);
    expect(main.attributes.get('data-version')).toBe(view.version);
    expect(main.attributes.get('data-announce')).toBeTruthy();
    expect(textOf(find(root, ({ name }) => name === 'h1'))).not.toBe('');
    expect(textOf(find(root, ({ name }) => name === 'title'))).not.toBe('');
    const text = mainText(view, language);
    for (const field of named[state]) {
      expect(text).toContain(`${decimalText(language, view[field] as string)} USDC`);
    }
    for (const { hash } of view.transactions) expect(text).toContain(hash);
    for (const each of ['Acme', 'Base', view.id, view.description!]) expect(text).toContain(each);
    expect(text).not.toMatch(/[{}]|undefined|NaN|\bnull\b/);
  });

  test.each(states.filter(state => !payable.has(state)))('a payment that is %s shows no address', state => {
    expectNoAddress(renderPage(crowded(state), { language, nowMs, assets }));
  });

  test('each notice is a page', () => {
    for (const kind of ['unknown', 'blocked', 'unavailable'] as const) {
      const markup = renderNotice(kind, { language, assets });
      expectNoAddress(markup);
      expect(find(parseMarkup(markup), ({ name }) => name === 'main').attributes.get('data-notice')).toBe(kind);
      expect(textOf(find(parseMarkup(markup), ({ name }) => name === 'h1'))).toBe(language.words[`${kind}Title`]);
    }
  });
});

test.each(states)('the part that changes is the same in the page, when %s', state => {
  const view = crowded(state);
  const main = renderMain(view, { language: english, nowMs });
  expect(main).toMatch(/^<main .*<\/main>$/s);
  expect(renderPage(view, { language: english, nowMs, assets })).toContain(main);
});

test('the order of the document is the one a payer needs', () => {
  const order = ['class="sandbox"', 'class="shop"', 'data-language', '<h1', 'data-copy="25.00"', 'class="notice care"'];
  const rest = [
    'role="timer"',
    'id="way-wallet"',
    'id="way-qr"',
    'id="way-address"',
    'class="details"',
    'class="return"',
  ];
  const markup = renderPage(crowded('waiting'), { language: english, nowMs, assets });
  const places = [...order, ...rest].map(part => markup.indexOf(part));
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((a, b) => a - b));
});

test('one who has yet to pay sees what to send, where and until when', () => {
  const root = page(viewIn('waiting'));
  expect(textOf(find(root, ({ name }) => name === 'h1'))).toBe('Pay 25.00 USDC to Acme');
  expect(mainText(viewIn('waiting'))).toContain('Send only USDC on Base. Anything else may be lost.');
  const box = find(root, ({ attributes }) => attributes.get('class') === 'address');
  expect(textOf(box)).toBe(address);
  expect(
    elementsOf(box)
      .filter(({ name }) => name === 'span')
      .map(textOf)
      .slice(0, 3),
  ).toEqual(['0x', '9fB2', '9AAc']);
  expect(box.attributes.get('dir')).toBe('ltr');
  for (const copied of [address, '25.00', viewIn('waiting').id]) expect(has(root, 'data-copy', copied)).toBe(true);
  const timer = find(root, ({ attributes }) => attributes.get('role') === 'timer');
  expect(timer.attributes.get('data-until')).toBe('2026-03-14T15:38:26.000Z');
  expect(JSON.parse(timer.attributes.get('data-left')!)).toEqual({
    10: '10 minutes left to pay',
    5: '5 minutes left to pay',
    1: '1 minute left to pay',
  });
  const wallet = find(root, ({ attributes }) => attributes.get('id') === 'way-wallet');
  expect(JSON.parse(wallet.attributes.get('data-wallet')!)).toMatchObject({
    chainId: 8453,
    address,
    value: '25000000',
  });
});

test('the amount to send is in the heading, with a button that copies it, and in no field', () => {
  for (const [state, copied] of [
    ['waiting', '25.00'],
    ['underpaid', '5.000001'],
  ] as const) {
    const main = mainOf(viewIn(state));
    const about = find(main, ({ attributes }) => attributes.get('class') === 'about');
    const [title, button] = about.children.filter(child => typeof child !== 'string' && child.name !== '') as Element[];
    expect(title!.name).toBe('h1');
    expect(textOf(title!)).toContain(`${copied} USDC`);
    expect(button!.attributes.get('data-copy')).toBe(copied);
    const fields = elementsOf(main).filter(({ name }) => name === 'dl');
    for (const field of fields) expect(textOf(field)).not.toContain(`${copied} USDC`);
  }
});

test('a short description stands beside the amount, a long one with the details', () => {
  const about = (view: CheckoutView): string =>
    textOf(find(mainOf(view), ({ attributes }) => attributes.get('class') === 'about'));
  const details = (view: CheckoutView): string =>
    textOf(find(mainOf(view), ({ attributes }) => attributes.get('class') === 'details'));
  const short = viewIn('waiting', { description: 'Two blue mugs' });
  expect(about(short)).toContain('Two blue mugs');
  expect(details(short)).not.toContain('Two blue mugs');
  const long = viewIn('waiting', { description: 'Mug '.repeat(60) });
  expect(about(long)).not.toContain('Mug');
  expect(details(long)).toContain('Mug');
});

test('one who has paid a part is asked for exactly the rest', () => {
  const root = page(viewIn('underpaid'));
  expect(textOf(find(root, ({ name }) => name === 'h1'))).toBe('Pay the remaining 5.000001 USDC to Acme');
  expect(has(root, 'data-copy', '5.000001')).toBe(true);
  expect(has(root, 'data-copy', '25.00')).toBe(false);
});

test.each(['waiting', 'underpaid'] as const)('one who comes after the time is told not to send, when %s', state => {
  const late = { ...viewIn(state), expiresAtMs: nowMs };
  expectNoAddress(renderMain(late, { language: english, nowMs }));
  const main = mainOf(late);
  expect(main.attributes.get('data-state')).toBe('timeUp');
  expect(textOf(find(main, ({ name }) => name === 'h1'))).toBe('The time to pay is up');
  expect(mainText(late)).toContain('Do not send money now.');
  expect(mainText(late)).not.toMatch(/Pay |Send the rest|before the time/);
  expect(mainText(late).includes('19.999999 USDC of 25.00 USDC has arrived so far.')).toBe(state === 'underpaid');
  // Screen readers announce it.
  expect(announced(late)).toMatch(/^The time to pay is up\. Do not send money now\. /);
  expect(announced(late)).not.toBe(announced(viewIn(state)));
  expect(mainText({ ...late, expiresAtMs: nowMs + 1 })).not.toContain('Do not send money now.');
});

test('what the script says at the end of the time is what the server says then', () => {
  const timer = find(page(viewIn('waiting')), ({ attributes }) => attributes.get('role') === 'timer');
  const late = { ...viewIn('waiting'), expiresAtMs: nowMs };
  const up = JSON.parse(timer.attributes.get('data-up')!);
  expect(up.told).toBe(announced(late));
  for (const each of [up.title, up.lead]) expect(mainText(late)).toContain(each);
});

const [slowSentence, straySentence] = [
  'Payments on Base may take longer to appear at the moment. Do not pay twice.',
  'Another token, or money on another network, has arrived at this address. It does not count. Only Acme can return it.',
];

test.each(states)('a payment that is %s tells of stray money, and of a slow network where it waits', state => {
  const waits = ['waiting', 'underpaid', 'timeUp', 'confirming', 'expired'].includes(state);
  const [plain, full] = [viewIn(state), crowded(state)];
  expect(mainText(full).includes(slowSentence)).toBe(waits);
  expect(mainText(full)).toContain(straySentence);
  // Screen readers announce both.
  expect(announced(full).includes(slowSentence.slice(0, -1))).toBe(waits);
  expect(announced(full)).toContain(straySentence.slice(0, -1));
  for (const sentence of [slowSentence, straySentence]) expect(mainText(plain)).not.toContain(sentence);
});

test('confirmations are counted, and their time is told', () => {
  const at = (current: number, required: number | null, blockTimeSeconds = 12) =>
    mainText(
      viewIn('confirming', {
        confirmations: { current, required, rule: required === null ? 'finalized' : 'depth' },
        network: { ...viewIn('confirming').network, blockTimeSeconds },
      }),
    );
  expect(at(3, 12)).toContain('Confirming 3 of 12');
  expect(at(3, 12)).toContain('Expected time: 2 minutes');
  expect(at(3, 12)).toContain('You may close this page');
  expect(at(11, 12)).toContain('less than a minute');
  expect(at(1, 1_000, 60)).toContain('Expected time: 17 hours');
  expect(at(40, 12)).toContain('Confirming 12 of 12');
  expect(at(40, null)).toContain('Waiting for Base to make the payment final');
});

test('what was paid too much is named exactly', () => {
  expect(mainText(viewIn('overpaid'))).toContain('You sent 5.50 USDC too much');
});

test('a receipt leads back, and only over https', () => {
  const links = (redirectUrl: string | null, state: CheckoutState = 'completed') =>
    elementsOf(page(viewIn(state, { redirectUrl })))
      .filter(({ attributes }) => attributes.get('class')?.includes('button'))
      .map(({ attributes }) => [attributes.get('href'), attributes.get('data-redirect')])
      .filter(([href]) => !href?.startsWith('ethereum:'));
  expect(links('https://acme.example/x?a=1&b=2')).toEqual([['https://acme.example/x?a=1&b=2', '10']]);
  expect(links('https://acme.example/x', 'waiting')).toEqual([['https://acme.example/x', undefined]]);
  for (const url of [
    'http://acme.example/',
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'data:text/html,x',
    '//x',
    '',
  ])
    expect(links(url)).toEqual([]);
});

test('money that came too late or too little is told apart', () => {
  expect(mainText(viewIn('expiredWithFunds'))).toContain('Only 19.999999 USDC of 25.00 USDC arrived');
  const late = (amountLate: string | null): string =>
    mainText(viewIn('expiredWithFunds', { exception: 'late', amountLate }));
  expect(late('19.999999')).toContain('19.999999 USDC arrived after');
  for (const part of ['4.00', null]) expect(late(part)).toContain('19.999999 USDC arrived, part of it after');
  const canceled = viewIn('canceled', { amountReceived: '3.00', exception: 'late' });
  expect(mainText(canceled)).toContain('However, 3.00 USDC has arrived');
  expect(mainText(viewIn('canceled'))).not.toContain('has arrived');
});

test('the sandbox says so, and pretends only with a token', () => {
  expect(has(page(viewIn('waiting')), 'class', 'sandbox')).toBe(false);
  const sandbox = viewIn('waiting', { environment: 'sandbox' });
  expect(textOf(page(sandbox))).toContain('no real money is used');
  expect(has(page(sandbox), 'data-simulate')).toBe(false);
  const panel = find(page(crowded('waiting')), ({ attributes }) => attributes.has('data-simulate'));
  expect(panel.attributes.get('action')).toBe(`${sandbox.id}/simulate?lang=en`);
  const outcomes = elementsOf(panel).flatMap(({ attributes }) =>
    attributes.get('name') === 'outcome' ? [attributes.get('value')] : [],
  );
  expect(outcomes).toEqual(['paid', 'underpaid', 'overpaid', 'late', 'wrong_token']);
});

test('without a script a page that can change is asked for again', () => {
  const refreshed = states.filter(state => has(page(viewIn(state)), 'http-equiv', 'refresh'));
  expect(refreshed).toEqual(states.filter(state => state !== 'completed' && state !== 'overpaid'));
});

test('a name cannot turn round what stands beside it', () => {
  const turned = viewIn('waiting', { merchantName: '\u202eemcA\u2069' });
  const titleOf = (view: CheckoutView, language: Language): string =>
    textOf(find(page(view, language), ({ name }) => name === 'title'));
  expect(titleOf(turned, english)).toBe('Pay 25.00 USDC to emcA');
  expect(titleOf(viewIn('waiting', { merchantName: 'متجر' }), english)).toBe('Pay 25.00 USDC to \u2068متجر\u2069');
  const arabic = languages.find(({ tag }) => tag === 'ar')!;
  expect(titleOf(viewIn('waiting'), arabic)).toBe('ادفع \u206825.00 USDC\u2069 إلى \u2068Acme\u2069');
  const heading = find(page(turned), ({ name }) => name === 'h1');
  expect(textOf(find(heading, ({ attributes }) => attributes.get('class') === 'merchant'))).toBe(turned.merchantName);
});

test('dust does not make a page endless', () => {
  const [dust] = viewIn('completed').transactions;
  const text = mainText(viewIn('completed', { transactions: Array.from({ length: 500 }, () => dust!) }));
  expect(text).toContain('and 490 more');
  expect(text.split(dust!.hash!).length - 1).toBe(10);
});
