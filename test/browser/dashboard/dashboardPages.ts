import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, expect } from 'vitest';
import { type DashboardClient, startDashboard, type TestDashboard, testPassword } from '../../support/dashboard.ts';
import { openBrowser } from '../chromium.ts';
import { newContext, openWatched, type WatchedPage } from '../watchedPage.ts';

export type DashboardPages = {
  readonly dashboard: TestDashboard;
  readonly browser: Browser;
  /** A page below `/dashboard` in a browser of its own, for somebody who is signed in or for a stranger. */
  open(path: string, who: DashboardClient | null, options?: BrowserContextOptions): Promise<WatchedPage>;
};

const signedIn = (url: string, { cookie }: DashboardClient) => {
  const [name, value] = cookie.split('=') as [string, string];
  return { name, value, url, secure: true, httpOnly: true, sameSite: 'Strict' as const };
};

/** One Florin and one Chromium for the tests of a file. */
export const useDashboardPages = (options: Parameters<typeof startDashboard>[0] = {}): DashboardPages => {
  const scene = {} as { dashboard: TestDashboard; browser: Browser };
  beforeAll(async () => {
    scene.dashboard = await startDashboard(options);
    scene.browser = await openBrowser();
  });
  return {
    get dashboard() {
      return scene.dashboard;
    },
    get browser() {
      return scene.browser;
    },
    async open(path, who, browserOptions = {}) {
      const context = await newContext(scene.browser, browserOptions);
      if (who) await context.addCookies([signedIn(scene.dashboard.url, who)]);
      const watched = await openWatched(context);
      await watched.page.goto(`${scene.dashboard.url}/dashboard${path}`);
      return { ...watched, close: () => context.close() };
    },
  };
};

/** Answers the question who is there, which a sensitive step asks. */
export const prove = async (page: Page, code?: string): Promise<void> => {
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.getByLabel('Password').fill(testPassword);
  if (code !== undefined) await dialog.getByLabel('Code').fill(code);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await dialog.waitFor({ state: 'hidden' });
};

/** The browser itself reports each answer that is no success; a call for proof is one on purpose. */
export const expectNoFaults = ({ problems }: WatchedPage): void =>
  expect(problems.filter(each => !/status of 403/.test(each))).toEqual([]);
