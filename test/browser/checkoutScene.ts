import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import { createDevPayer } from '../../src/chains/evm/devPayer.ts';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import type { Log } from '../../src/core/log.ts';
import { type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { openBrowser } from './chromium.ts';
import { newContext, openWatched, type WatchedPage } from './watchedPage.ts';

export type Payment = Answer['json'];
/** With settings of a browser the page has a profile of its own, which takes a second; otherwise it shares one. */
type PageOptions = BrowserContextOptions & { query?: string; prepare?: (page: Page) => Promise<void> };

/** On `base` a payment stays confirming, whatever blocks the other payments of a file bring; elsewhere two are enough. */
export const slowDepth = 200;

export type CheckoutScene = {
  readonly florin: TestFlorin;
  readonly browser: Browser;
  /** Asks the local chain's node. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>;
  readonly calls: PaymentCalls;
  readonly logged: string[];
  /** Opens a payment's page as a payer does. Closed with the scene, or by a test that needs it no more. */
  open(payment: Payment, options?: PageOptions): Promise<WatchedPage>;
  /** Sends base units of the payment's own currency to its address. */
  pay(payment: Payment, units: bigint): Promise<void>;
  /** The contract of the payment's currency; null for native coin. */
  contractOf(payment: Payment): Promise<string | null>;
  simulate(payment: Payment, outcome: string): Promise<void>;
  /** Settles once the payment has this status. */
  reach(payment: Payment, status: string): Promise<void>;
};

type SceneOptions = Pick<NonNullable<Parameters<typeof startTestFlorin>[0]>, 'live'>;

const startScene = async (options: SceneOptions): Promise<CheckoutScene> => {
  const logged: string[] = [];
  const note: Log['error'] = (_, message) => void logged.push(message);
  const florin = await startTestFlorin({
    ...options,
    configFile: { networks: { sandbox: { base: { rule: { kind: 'depth', depth: slowDepth } } } } },
    log: { debug: note, info: note, warn: note, error: note },
  });
  const browser = await openBrowser();
  const shared = await newContext(browser);
  const { port } = JSON.parse(await readFile(join(florin.config.dataDir, 'devchain.json'), 'utf8')) as { port: number };
  const chainUrl = `http://127.0.0.1:${port}`;
  const payer = createDevPayer(chainUrl);
  const account = await florin.account({ name: 'Acme & <b>Söhne</b>' });
  const calls = paymentCalls(florin, account);
  const contractOf: CheckoutScene['contractOf'] = async ({ network, currency }) => {
    const { json } = await florin.client.call('GET', `/v1/networks/${network}`);
    return json.currencies.find((each: { symbol: string }) => each.symbol === currency).contractAddress;
  };
  return {
    florin,
    browser,
    ask: (method, params) => callRpc(chainUrl, method, params),
    contractOf,
    calls,
    logged,
    async open(payment, { query = '', prepare, ...options } = {}) {
      const isShared = Object.keys(options).length === 0;
      const context = isShared ? shared : await newContext(browser, options);
      const watched = await openWatched(context);
      await prepare?.(watched.page);
      await watched.page.goto(payment.checkoutUrl + query);
      return isShared ? watched : { ...watched, close: () => context.close() };
    },
    async pay(payment, amount) {
      await payer.pay({ to: payment.address, token: await contractOf(payment), amount });
    },
    async simulate({ id }, outcome) {
      const sending = { key: account.keys.sandbox, body: { outcome } };
      const answer = await florin.client.call('POST', `/v1/sandbox/payments/${id}/simulate`, sending);
      expect(answer.status, answer.text).toBe(200);
    },
    async reach({ id }, status) {
      await until(
        () => calls.read(id),
        ({ json }) => json.status === status,
      );
    },
  };
};

/** One Florin and one Chromium for the tests of a file. The scene is there once a test runs. */
export const useCheckoutScene = (options: SceneOptions = {}): CheckoutScene => {
  const scene = {} as CheckoutScene;
  beforeAll(async () => void Object.assign(scene, await startScene(options)));
  return scene;
};

export const inState = ({ page }: WatchedPage, state: string): Promise<void> =>
  page.locator(`main[data-state="${state}"]`).waitFor();
