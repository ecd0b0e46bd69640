import type { Reporter, TestModule } from 'vitest/node';
import { findBrowser, howToGetBrowser } from './findBrowser.ts';

/** The last lines of a run without a browser: how much it left out, and how to get one. */
export default class BrowserNotice implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (findBrowser() !== null) return;
    const skipped = modules.filter(({ relativeModuleId }) => relativeModuleId.startsWith('test/browser/'));
    const tests = skipped.reduce((sum, { children }) => sum + [...children.allTests()].length, 0);
    if (tests === 0) return;
    console.log(
      `\nSkipped: ${tests} tests of pages in ${skipped.length} file${skipped.length === 1 ? '' : 's'}. They need Chromium, Chrome or Edge.`,
    );
    console.log(`Get one with: ${howToGetBrowser()}   (or set CHROMIUM_PATH to its program)\n`);
  }
}
