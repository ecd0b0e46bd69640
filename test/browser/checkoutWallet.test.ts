// @module-tag browser
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/until.ts';
import { inState, type Payment, useCheckoutScene } from './checkoutScene.ts';
import { createTestWallet, type TestWallet } from './testWallet.ts';
import { expectNoProblems, type WatchedPage } from './watchedPage.ts';

const scene = useCheckoutScene();

const tokens = { network: 'ethereum' };
const coins = { network: 'ethereum', currency: 'ETH', amount: '0.01' };

type Opened = { readonly payment: Payment; readonly wallet: TestWallet; readonly watched: WatchedPage };

/** A page in a browser with a wallet, which somebody has set up in some way. */
const openWith = async (fields: object, setUp: (wallet: TestWallet) => void = () => {}): Promise<Opened> => {
  const payment = await scene.calls.made(fields);
  const wallet = createTestWallet(scene.ask);
  setUp(wallet);
  const watched = await scene.open(payment, { prepare: wallet.install });
  await watched.page.getByRole('tab', { name: 'Wallet', selected: true }).waitFor();
  return { payment, wallet, watched };
};

const button = ({ page }: WatchedPage) => page.getByRole('button', { name: 'Test wallet' });
const wordsOf = async ({ page }: WatchedPage): Promise<Record<string, string>> =>
  JSON.parse((await page.locator('#way-wallet').getAttribute('data-words'))!);

const expectSaid = async (watched: WatchedPage, word: string): Promise<void> => {
  const words = await wordsOf(watched);
  expect(words[word]).toMatch(/\S/);
  await watched.page.locator('[data-wallet-status]', { hasText: words[word]! }).waitFor();
};

/** The rich account has tokens only once it needed some. */
beforeAll(async () => scene.pay(await scene.calls.made(tokens), 10n ** 9n));

describe('a wallet of the browser', () => {
  test('is shown by its name and an icon of its own bytes, and nothing that it says is markup', async () => {
    const { watched } = await openWith(tokens);
    const buttons = watched.page.locator('[data-wallets] button');
    expect(await buttons.allTextContents()).toEqual(['Test wallet', '<img src=x onerror=alert(1)>']);
    expect(await buttons.nth(0).locator('img').getAttribute('src')).toMatch(/^data:image\/svg\+xml,/);
    expect(await buttons.nth(1).locator('img').count()).toBe(0);
    expect(await watched.page.locator('[data-wallet-none]').isVisible()).toBe(false);
    expectNoProblems(watched);
    await watched.close();
  });

  test('that is not there is told so, with the other ways', async () => {
    const watched = await scene.open(await scene.calls.made(tokens));
    await watched.page.getByRole('tab', { name: 'QR code', selected: true }).waitFor();
    await watched.page.getByRole('tab', { name: 'Wallet' }).click();
    expect(await watched.page.locator('[data-wallet-none]').isVisible()).toBe(true);
    const link = await watched.page.locator('#way-wallet a[data-uri]').getAttribute('href');
    expect(link).toMatch(/^ethereum:0x[0-9a-fA-F]{40}@31337\/transfer\?address=0x[0-9a-fA-F]{40}&uint256=25000000$/);
    await watched.close();
  });

  test.each([
    ['tokens', tokens, '25.00'],
    ['native coin', coins, '0.01'],
  ])('pays %s: it is asked once, on the right chain, however often somebody clicks', async (_, fields, received) => {
    const { payment, wallet, watched } = await openWith(fields);
    await button(watched).dblclick();
    await inState(watched, 'completed');
    expect(wallet.asked()).toEqual(['eth_requestAccounts', 'wallet_switchEthereumChain', 'eth_sendTransaction']);
    const { json } = await scene.calls.read(payment.id);
    expect(json).toMatchObject({ status: 'completed', exception: null, amountReceived: received });
    expect(json.transactions).toHaveLength(1);
    expectNoProblems(watched);
    await watched.close();
  });

  test('pays what is missing, exactly', { tags: ['thorough'] }, async () => {
    const { payment, wallet, watched } = await openWith(tokens);
    await scene.pay(payment, 24_999_999n);
    await inState(watched, 'underpaid');
    await button(watched).click();
    await inState(watched, 'completed');
    const [sent] = wallet.calls.find(({ method }) => method === 'eth_sendTransaction')!.params as [{ data: string }];
    expect(BigInt(`0x${sent.data.slice(-64)}`)).toBe(1n);
    await watched.close();
  });
});

describe('after the wallet has sent', () => {
  test('the hash is shown, and nothing is asked again until the page asks for something else', async () => {
    const { wallet, watched } = await openWith(tokens);
    // As on a slow network, the page does not learn of it yet.
    await watched.page.route('**/live**', route => route.abort());
    await watched.page.route('**/main**', route => route.abort());
    await watched.page.reload();
    await button(watched).click();
    await expectSaid(watched, 'sent');
    const shown = await watched.page.locator('[data-wallet-status] code').textContent();
    expect(shown).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await button(watched).getAttribute('aria-disabled')).toBe('true');
    const before = wallet.asked();
    await button(watched).click({ force: true });
    // Whatever the click asked of the wallet has been heard before this is answered.
    await watched.page.evaluate('0');
    expect(wallet.asked()).toEqual(before);
    await watched.close();
  });
});

describe('what can go wrong has a sentence, and leaves a way on', { tags: ['thorough'] }, () => {
  const impoverish = (wallet: TestWallet): void => {
    wallet.account = `0x${'17'.repeat(20)}`;
  };
  const cases: readonly [string, string, object, (wallet: TestWallet) => void][] = [
    ['the owner does not connect', 'refused', tokens, wallet => void wallet.refused.add('eth_requestAccounts')],
    ['the owner does not switch', 'refused', tokens, wallet => void wallet.refused.add('wallet_switchEthereumChain')],
    ['the owner does not pay', 'refused', coins, wallet => void wallet.refused.add('eth_sendTransaction')],
    ['no tokens', 'insufficient', tokens, impoverish],
    ['no coin', 'insufficient', coins, impoverish],
    ['a wallet that breaks', 'failed', coins, wallet => void wallet.broken.add('eth_sendTransaction')],
    ['a wallet that cannot switch', 'failed', coins, wallet => void wallet.broken.add('wallet_switchEthereumChain')],
  ];
  test.each(cases)('%s: %s', async (_, word, fields, setUp) => {
    const { payment, wallet, watched } = await openWith(fields, setUp);
    await button(watched).click();
    await expectSaid(watched, word);
    expect(await button(watched).getAttribute('aria-disabled')).toBe(null);
    expect((await scene.calls.read(payment.id)).json.status).toBe('pending');
    // The other ways are where they were, and so is this one.
    await watched.page.getByRole('tab', { name: 'Address' }).click();
    expect(await watched.page.locator('#way-address').isVisible()).toBe(true);
    const before = wallet.calls.length;
    await watched.page.getByRole('tab', { name: 'Wallet' }).click();
    await button(watched).click();
    await eventually(async () => expect(wallet.calls.length).toBeGreaterThan(before));
    expectNoProblems(watched);
    await watched.close();
  });
});

describe('a chain that the wallet does not know', { tags: ['thorough'] }, () => {
  const forget = (wallet: TestWallet): void => void wallet.known.delete(31337);

  test('is added, where there is a node that anybody may ask, and then paid on', async () => {
    const { wallet, watched } = await openWith(tokens, forget);
    const asked = JSON.parse((await watched.page.locator('#way-wallet').getAttribute('data-wallet'))!);
    await button(watched).click();
    await inState(watched, 'completed');
    const added = wallet.calls.find(({ method }) => method === 'wallet_addEthereumChain')!.params;
    expect(added).toEqual([
      {
        chainId: '0x7a69',
        chainName: asked.chainName,
        nativeCurrency: { name: expect.any(String), symbol: 'ETH', decimals: 18 },
        rpcUrls: [asked.rpcUrl],
      },
    ]);
    await watched.close();
  });

  test('is named where it is not added, and nothing is sent', async () => {
    const { payment, wallet, watched } = await openWith(tokens, forget);
    wallet.broken.add('wallet_addEthereumChain');
    await button(watched).click();
    await expectSaid(watched, 'chainUnknown');
    expect(wallet.asked()).not.toContain('eth_sendTransaction');
    expect((await scene.calls.read(payment.id)).json.status).toBe('pending');
    await watched.close();
  });

  test('is not believed to be switched to because a wallet says so', async () => {
    const { wallet, watched } = await openWith(tokens);
    wallet.liesAboutSwitching = true;
    await button(watched).click();
    await expectSaid(watched, 'chainUnknown');
    expect(wallet.asked()).not.toContain('eth_sendTransaction');
    await watched.close();
  });
});
