import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall } from './processes.mjs';

const isProgram = path => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** The browser that the tests of pages run in; test/browser/chromium.ts finds it by the same names. */
export const ensureChromium = async room => {
  if (process.env.CHROMIUM_PATH) return;
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (names.some(name => folders.some(folder => isProgram(join(folder, name))))) return;
  await aptInstall('chromium', room, 'Chromium is needed. On Debian: apt-get install chromium');
};
