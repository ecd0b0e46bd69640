import { expect, test } from 'vitest';
import { findBrowser, howToGetBrowser } from '../support/findBrowser.ts';

const has =
  (...paths: string[]) =>
  (path: string): boolean =>
    paths.includes(path);

test('CHROMIUM_PATH goes first', () => {
  const env = { CHROMIUM_PATH: '/opt/my/chrome', PATH: '/usr/bin' };
  expect(findBrowser(env, has('/usr/bin/chromium'))).toBe('/opt/my/chrome');
});

test.each([
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/local/bin/google-chrome',
  '/usr/bin/microsoft-edge',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
])('finds %s', path => {
  expect(findBrowser({ PATH: '/usr/local/bin:/usr/bin' }, has(path))).toBe(path);
});

test('finds nothing where there is none', () => {
  expect(findBrowser({ PATH: '/usr/bin' }, () => false)).toBeNull();
});

test('the command that gets a browser is one for the system', () => {
  expect(howToGetBrowser('darwin')).toMatch(/^brew /);
  expect(howToGetBrowser('linux', 'debian')).toBe('sudo apt-get install chromium');
  expect(howToGetBrowser('linux', 'ubuntu')).toBe('sudo snap install chromium');
});
