import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { expect } from 'vitest';

export type WatchedPage = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the console and of scripts, and what the content security policy refused. */
  readonly problems: string[];
  /** Every request that the page made, whether it was answered or not. */
  readonly requests: Request[];
  close(): Promise<void>;
};

const reporter = fileURLToPath(new URL('page/reportViolations.js', import.meta.url));

export const newContext = (browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> =>
  browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-US', ...options });

/** A page of the context, with all that goes wrong in it written down. */
export const openWatched = async (context: BrowserContext): Promise<WatchedPage> => {
  const page = await context.newPage();
  const problems: string[] = [];
  const requests: Request[] = [];
  page.on('request', request => void requests.push(request));
  page.on('console', message => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', error => void problems.push(String(error)));
  await page.addInitScript({ path: reporter });
  page.setDefaultTimeout(20_000);
  return { page, context, problems, requests, close: () => page.close() };
};

export const expectNoProblems = ({ problems }: WatchedPage): void => expect(problems).toEqual([]);
