import { type Browser, chromium } from 'playwright-core';
import { atEndOfFile } from '../support/endOfFile.ts';
import { findBrowser } from '../support/findBrowser.ts';

/**
 * A real browser that reaches loopback and nothing else: every other name leads to a proxy that is not there, so a page
 * that asked a stranger would fail here, and be seen to.
 */
const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: findBrowser()!,
    chromiumSandbox: false,
    args: [
      '--disable-gpu',
      '--disable-background-networking',
      '--no-first-run',
      '--disable-component-update',
      '--disable-sync',
      '--proxy-server=http://127.0.0.1:9',
      '--proxy-bypass-list=127.0.0.1;localhost',
    ],
  });

let running: Browser | null = null;

/** One browser for all files of a worker, since a start is expensive. Profiles are closed at the end of each file. */
export const openBrowser = async (): Promise<Browser> => {
  if (!running?.isConnected()) running = await launch();
  const browser = running;
  atEndOfFile(async () => {
    for (const context of browser.contexts()) await context.close();
  });
  return browser;
};
