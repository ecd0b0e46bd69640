// @module-tag browser
// @module-tag thorough
import { describe, expect, test } from 'vitest';
import { type Language, languages } from '../../src/checkout/languages.ts';
import { renderMain } from '../../src/checkout/page.ts';
import type { CheckoutView } from '../../src/core/checkoutView.ts';
import { eventually } from '../support/until.ts';
import { type CheckoutStage, stagedView, useCheckoutStages } from './checkoutStage.ts';
import { createTestWallet, type TestWallet } from './testWallet.ts';

const onStage = useCheckoutStages();
const [english, german] = ['en', 'de'].map(tag => languages.find(each => each.tag === tag)!) as [Language, Language];
const hash = `0x${'5e'.repeat(32)}`;
const minuteMs = 60_000;

type Chain = { coins: string; tokens: string; receipt: { status: string } | null; onCall: () => void };
type Played = { readonly stage: CheckoutStage; readonly wallet: TestWallet; readonly chain: Chain };

/** A page with a wallet, on a chain that answers as a test says. */
const withWallet = (act: (played: Played) => Promise<void>, view?: CheckoutView): Promise<void> => {
  const chain: Chain = { coins: '0xffffffffff', tokens: '0xffffffffff', receipt: null, onCall: () => {} };
  const answers: Readonly<Record<string, () => unknown>> = {
    eth_accounts: () => [`0x${'17'.repeat(20)}`],
    eth_getBalance: () => chain.coins,
    eth_call() {
      chain.onCall();
      return chain.tokens;
    },
    eth_sendTransaction: () => hash,
    eth_getTransactionReceipt: () => chain.receipt,
  };
  const wallet = createTestWallet(async method => answers[method]!());
  return onStage(async stage => {
    if (view) stage.view = view;
    await stage.page.clock.install();
    await stage.open();
    await act({ stage, wallet, chain });
  }, wallet.install);
};

const button = ({ page }: CheckoutStage) => page.getByRole('button', { name: 'Test wallet' });
const isLocked = async (stage: CheckoutStage): Promise<boolean> =>
  (await button(stage).getAttribute('aria-disabled')) === 'true';
const said = async ({ page }: CheckoutStage, sentence: string): Promise<void> =>
  page.locator('[data-wallet-status]', { hasText: sentence }).waitFor();
const sends = (wallet: TestWallet): number => wallet.asked().filter(method => method === 'eth_sendTransaction').length;

const send = async ({ stage, wallet }: Played): Promise<void> => {
  const before = sends(wallet);
  await button(stage).click();
  await said(stage, english.words.walletSent);
  expect(sends(wallet)).toBe(before + 1);
};

/** A click that does nothing, after all that it could have asked of the wallet was heard. */
const clickInVain = async ({ stage, wallet }: Played): Promise<void> => {
  const before = wallet.asked();
  await button(stage).click({ force: true });
  await stage.page.evaluate('0');
  expect(wallet.asked()).toEqual(before);
};

describe('a transaction', () => {
  test.each([
    ['tokens', stagedView('waiting')],
    ['native coin', stagedView('waiting', { contract: null, baseUnits: '1000' })],
  ])('of %s names its chain', (_, view) =>
    withWallet(async played => {
      await send(played);
      const [sent] = played.wallet.calls.find(({ method }) => method === 'eth_sendTransaction')!.params as [object];
      expect(sent).toMatchObject({ chainId: '0x7a69' });
    }, view),
  );

  test('is not asked for on a chain that the wallet has changed to meanwhile', () =>
    withWallet(async ({ stage, wallet, chain }) => {
      chain.onCall = () => {
        wallet.chainId = 1;
      };
      await button(stage).click();
      await said(stage, 'Your wallet could not switch to Base.');
      expect(sends(wallet)).toBe(0);
      expect(await isLocked(stage)).toBe(false);
    }));

  test('needs no coin for its fee, which others may pay', () =>
    withWallet(async played => {
      played.chain.coins = '0x0';
      await send(played);
    }));

  test('that the wallet itself refuses without a coin says so', () =>
    withWallet(async ({ stage, wallet, chain }) => {
      chain.coins = '0x0';
      wallet.broken.add('eth_sendTransaction');
      await button(stage).click();
      await said(stage, 'not enough ETH for the network fee');
      expect(await isLocked(stage)).toBe(false);
    }));
});

describe('what was sent', () => {
  test('is known after a reload and in another language, and not sent again', () =>
    withWallet(async played => {
      const { page } = played.stage;
      await send(played);
      await page.reload();
      await said(played.stage, english.words.walletSent);
      expect(await page.locator('[data-wallet-status] code').textContent()).toBe(hash);
      await clickInVain(played);
      await page.goto(`${page.url().split('?')[0]}?lang=de`);
      await said(played.stage, german.words.walletSent);
      expect(await isLocked(played.stage)).toBe(true);
      await clickInVain(played);
    }));

  test('is known where nothing may be kept, for as long as the page stays', () =>
    withWallet(async played => {
      await played.stage.page.evaluate(
        `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } })`,
      );
      await send(played);
      await clickInVain(played);
    }));

  test('is asked for no more when others send something, until the page names it', () =>
    withWallet(async played => {
      const { stage } = played;
      await send(played);
      const [dust] = stagedView('underpaid').transactions;
      const show = async (version: string, transactions: CheckoutView['transactions']): Promise<void> => {
        stage.view = stagedView('underpaid', { version, transactions });
        stage.tell('main', renderMain(stage.view, { language: english, nowMs: Date.now() }));
        await stage.page.locator(`main[data-version="${version}"]`).waitFor();
      };
      await show('8', [dust!]);
      await said(stage, english.words.walletSent);
      expect(await isLocked(stage)).toBe(true);
      await clickInVain(played);
      await show('9', [dust!, { ...dust!, hash }]);
      expect(await stage.page.locator('[data-wallet-status]').textContent()).toBe('');
      expect(await isLocked(stage)).toBe(false);
      await button(stage).click();
      await eventually(async () => expect(sends(played.wallet)).toBe(2));
    }));

  test('and failed may be sent again', () =>
    withWallet(async played => {
      await send(played);
      played.chain.receipt = { status: '0x0' };
      await played.stage.page.clock.fastForward(11_000);
      await said(played.stage, english.words.walletReverted);
      expect(await isLocked(played.stage)).toBe(false);
      played.chain.receipt = null;
      await send(played);
    }));

  test('and is not seen for some minutes may be sent again, by who has looked for it', () =>
    withWallet(async played => {
      await send(played);
      await played.stage.page.clock.fastForward(4 * minuteMs);
      await clickInVain(played);
      await played.stage.page.clock.fastForward(minuteMs + 11_000);
      await said(played.stage, english.words.walletUnseen);
      expect(await played.stage.page.locator('[data-wallet-status] code').textContent()).toBe(hash);
      expect(await isLocked(played.stage)).toBe(false);
      await send(played);
    }));

  test('and is in a block is not sent again, however long the page does not name it', () =>
    withWallet(async played => {
      played.chain.receipt = { status: '0x1' };
      await send(played);
      const isMined = `JSON.parse(sessionStorage.getItem('florin-sent-${played.stage.view.id}')).isMined`;
      await played.stage.page.waitForFunction(isMined);
      await played.stage.page.clock.fastForward(6 * minuteMs);
      await said(played.stage, english.words.walletSent);
      await clickInVain(played);
    }));
});

test('a wallet that never answers keeps nobody from another, and sends nothing when it does', () =>
  withWallet(async ({ stage, wallet }) => {
    const [first, second] = [button(stage), stage.page.locator('#wallet-1')];
    wallet.silent.add('eth_requestAccounts');
    await first.click();
    await said(stage, english.words.walletConnecting);
    // Not asked twice itself.
    await first.click({ force: true });
    expect(await second.getAttribute('aria-disabled')).toBe(null);
    wallet.silent.delete('eth_requestAccounts');
    await second.click();
    await said(stage, english.words.walletSent);
    expect(wallet.asked().filter(method => method === 'eth_requestAccounts')).toHaveLength(2);
    wallet.answerSilent();
    await stage.page.evaluate('0');
    expect(sends(wallet)).toBe(1);
  }));
