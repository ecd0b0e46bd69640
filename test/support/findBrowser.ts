import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isProgram } from './isProgram.ts';

// The shell is the same browser without windows: a page takes a quarter of the processor's time.
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'microsoft-edge-stable',
  'microsoft-edge',
];
const apps = ['Google Chrome', 'Chromium', 'Microsoft Edge'];

/** The browser that the tests of pages run in: CHROMIUM_PATH, or one that is installed; null where there is none. */
export const findBrowser = (env: NodeJS.ProcessEnv = process.env, exists = isProgram): string | null => {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH;
  const folders = (env.PATH ?? '').split(delimiter);
  const paths = [
    ...names.flatMap(name => folders.map(folder => join(folder, name))),
    ...apps.map(app => `/Applications/${app}.app/Contents/MacOS/${app}`),
  ];
  return paths.find(exists) ?? null;
};

const distribution = (): string => {
  try {
    return /^ID="?([\w-]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
};

const linuxCommands: Readonly<Record<string, string>> = {
  // Ubuntu has Chromium as a snap only.
  ubuntu: 'sudo snap install chromium',
  fedora: 'sudo dnf install chromium',
  arch: 'sudo pacman -S chromium',
};

/** One command that gets a browser on this machine. */
export const howToGetBrowser = (platform: NodeJS.Platform = process.platform, linux = distribution()): string =>
  platform === 'darwin'
    ? 'brew install --cask google-chrome'
    : (linuxCommands[linux] ?? 'sudo apt-get install chromium');

// As a command it prints the path, or ends with 1.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = findBrowser();
  console.log(path ?? `no browser was found; get one with: ${howToGetBrowser()}`);
  process.exitCode = path === null ? 1 : 0;
}
