// @module-tag browser
import { describe, expect, test } from 'vitest';
import { eventually } from '../support/until.ts';
import { expectAccessible } from './axe.ts';
import { inState, type Payment, slowDepth, useCheckoutScene } from './checkoutScene.ts';
import { expectNoProblems, type WatchedPage } from './watchedPage.ts';

const scene = useCheckoutScene();

/** Final after two blocks, which the chain makes by itself. */
const quick = { network: 'ethereum' };
const whole = 25_000_000n;

type State = {
  readonly state: string;
  readonly fields?: object;
  /** What happens after the page was opened. */
  readonly happens: (payment: Payment) => Promise<void>;
  /** Whether somebody could still pay by what the page shows. */
  readonly asks?: boolean;
  readonly says: readonly string[];
};

const complete = async (payment: Payment): Promise<void> => {
  await scene.pay(payment, whole);
  await scene.reach(payment, 'completed');
};

const states: readonly State[] = [
  {
    state: 'underpaid',
    asks: true,
    happens: payment => scene.pay(payment, 12_499_999n),
    says: ['12.499999', '12.500001'],
  },
  { state: 'confirming', happens: payment => scene.pay(payment, whole), says: [`of ${slowDepth}`] },
  { state: 'completed', fields: quick, happens: complete, says: ['25.00'] },
  {
    state: 'overpaid',
    fields: quick,
    happens: payment => scene.pay(payment, whole + 10_000n),
    says: ['25.01', '0.01'],
  },
  { state: 'expired', fields: { expiresIn: 3 }, happens: async () => {}, says: [] },
  {
    state: 'expiredWithFunds',
    fields: { expiresIn: 4 },
    happens: payment => scene.pay(payment, 10_000n),
    says: ['0.01'],
  },
  { state: 'canceled', happens: async ({ id }) => void (await scene.calls.act(id, 'cancel')), says: [] },
  {
    state: 'reversed',
    fields: quick,
    happens: async payment => {
      await complete(payment);
      await scene.simulate(payment, 'reorg');
    },
    says: [],
  },
];

const expectShown = async ({ page }: WatchedPage, payment: Payment, { asks = false, says }: State): Promise<void> => {
  const text = (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
  for (const part of says) expect(text).toContain(part);
  const markup = (await page.locator('main').innerHTML()).toLowerCase();
  // Neither the address nor a code for it: nobody should send now.
  expect(markup.includes(payment.address.toLowerCase())).toBe(asks);
  expect(await page.locator('[data-qr]').count()).toBe(asks ? 1 : 0);
};

describe('a page that waits', () => {
  test('shows how to pay, with and without script', async () => {
    const payment = await scene.calls.made();
    const shown = { state: 'waiting', asks: true, says: ['25.00'], happens: async () => {} };
    const [live, plain] = [await scene.open(payment), await scene.open(payment, { javaScriptEnabled: false })];
    for (const each of [live, plain]) {
      await inState(each, 'waiting');
      await expectShown(each, payment, shown);
      expectNoProblems(each);
    }
    for (const id of ['way-qr', 'way-address']) expect(await plain.page.locator(`#${id}`).isVisible()).toBe(true);
    expect(await plain.page.locator('figure[data-code]').count()).toBe(2);
    expect(await plain.page.content()).toContain('http-equiv="refresh"');
    await expectAccessible(live);
  });
});

describe('every state arrives by itself, and is there after a reload without script', () => {
  const arrives = async (shown: State): Promise<void> => {
    const payment = await scene.calls.made(shown.fields);
    const live = await scene.open(payment);
    const plain = await scene.open(payment, { javaScriptEnabled: false });
    await live.page.evaluate('window.isSamePage = true');
    await shown.happens(payment);
    await inState(live, shown.state);
    expect(await live.page.evaluate('window.isSamePage')).toBe(true);
    await expectShown(live, payment, shown);
    await eventually(async () => {
      const told = await live.page.locator('#announce').textContent();
      expect(told).toBe(await live.page.locator('main').getAttribute('data-announce'));
    });
    await plain.page.reload();
    await inState(plain, shown.state);
    await expectShown(plain, payment, shown);
    expectNoProblems(plain);
    await plain.close();
    await expectAccessible(live);
    expectNoProblems(live);
    await live.close();
  };
  const isCommon = ({ state }: State): boolean => ['underpaid', 'completed', 'expired', 'canceled'].includes(state);
  test.each(states.filter(isCommon))('$state', arrives);
  test.each(states.filter(each => !isCommon(each)))('$state', { tags: ['thorough'] }, arrives);
});
