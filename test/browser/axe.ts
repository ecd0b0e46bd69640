import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, inject } from 'vitest';
import type { WatchedPage } from './watchedPage.ts';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Found = {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
};

/** Through the debugger, so that the page's own policy stays as it is. */
const violations = async ({ page }: WatchedPage, rules: readonly string[] | null = null): Promise<string[]> => {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source);
  const options = { resultTypes: ['violations'], ...(rules === null ? {} : { runOnly: rules }) };
  const found = (await page.evaluate(`axe.run(${JSON.stringify(options)}).then(all => all.violations)`)) as Found[];
  return found.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.html} ${node.failureSummary}`));
};

/** Every rule in light. Dark differs in nothing but colours: there `npm run test:all` looks at contrast. */
export const expectAccessibleInBoth = async (watched: WatchedPage): Promise<void> => {
  expect(await violations(watched)).toEqual([]);
  await watched.page.emulateMedia({ colorScheme: 'dark' });
  if (inject('isThorough')) expect(await violations(watched, ['color-contrast'])).toEqual([]);
};

/** In light; `npm run test:all` looks in dark and from right to left as well. */
export const expectAccessible = async (watched: WatchedPage): Promise<void> => {
  const { page } = watched;
  await expectAccessibleInBoth(watched);
  if (!inject('isThorough')) return;
  await page.goto(`${page.url().split('?')[0]}?lang=ar`);
  expect(await page.locator('html').getAttribute('dir')).toBe('rtl');
  expect(await violations(watched)).toEqual([]);
};
