import { readFileSync } from 'node:fs';
import type { Reply, Route } from '../edge/route.ts';

export const iconPath = '/favicon.ico';

/** Browsers request this path if a page names no icon. */
export const iconRoute = (): Route => {
  const reply: Reply = {
    body: readFileSync(new URL('../../../web/checkout/icon.svg', import.meta.url)),
    contentType: 'image/svg+xml; charset=utf-8',
    headers: { 'cache-control': 'public, max-age=86400', 'x-content-type-options': 'nosniff' },
  };
  return {
    method: 'GET',
    alsoHead: true,
    path: iconPath,
    summary: 'The icon',
    tag: 'System',
    access: 'public',
    handle: () => reply,
  };
};
