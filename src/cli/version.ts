import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
const manifest = JSON.parse(text) as { version: string };

/** Of the code that this process has loaded. */
export const version = manifest.version;
