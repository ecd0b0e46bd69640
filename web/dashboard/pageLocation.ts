import { useSyncExternalStore } from 'react';
import type { Environment } from '../../src/core/environment.ts';

/** The page in the URL. The environment is part of the URL, so that two tabs never mix environments. */

export const base = '/dashboard';
const words = { sandbox: 'test', production: 'live' } as const satisfies Record<Environment, string>;
const changed = 'florin:location';

export type PageLocation = {
  /** Null on pages without an environment: sign-in, setup, invitation. */
  readonly environment: Environment | null;
  /** The path after the environment, or after the base if there is none: `/payments/pay_1`. */
  readonly path: string;
  readonly query: URLSearchParams;
};

const environmentOf = (word: string | undefined): Environment | null =>
  word === words.sandbox ? 'sandbox' : word === words.production ? 'production' : null;

export const pageLocationOf = (href: string): PageLocation => {
  const { pathname, search } = new URL(href, location.origin);
  const parts = pathname.slice(base.length).split('/').filter(Boolean);
  const environment = environmentOf(parts[0]);
  const rest = environment === null ? parts : parts.slice(1);
  return { environment, path: `/${rest.join('/')}`, query: new URLSearchParams(search) };
};

const kept = 'florin.environment';
/** The environment of the last visit. The default is the sandbox. */
export const keptEnvironment = (): Environment => {
  try {
    return localStorage.getItem(kept) === 'production' ? 'production' : 'sandbox';
  } catch {
    return 'sandbox';
  }
};
export const keepEnvironment = (environment: Environment): void => {
  try {
    localStorage.setItem(kept, environment);
  } catch {
    // Storage may be blocked. The next visit then begins in the sandbox.
  }
};

export const here = (): PageLocation => pageLocationOf(location.href);
export const environmentHere = (): Environment => here().environment ?? keptEnvironment();

/** `to` begins with a slash: `/payments?status=pending`. */
export const hrefIn = (environment: Environment, to: string): string =>
  `${base}/${words[environment]}${to === '/' ? '' : to}`;
export const outsideHref = (to: string): string => `${base}${to}`;

let visits = 0;
/** Whether the page has changed since the app was loaded. If so, the new heading gets the focus. */
export const hasNavigated = (): boolean => visits > 0;

export const navigate = (href: string, { isReplacing = false } = {}): void => {
  if (isReplacing) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  visits += 1;
  dispatchEvent(new Event(changed));
  if (!isReplacing) scrollTo(0, 0);
};

/** Changes the filters of the current page, without moving the focus or scrolling. */
export const replaceQuery = (query: URLSearchParams): void => {
  const text = query.toString();
  history.replaceState(null, '', location.pathname + (text === '' ? '' : `?${text}`));
  dispatchEvent(new Event(changed));
};

const watch = (notify: () => void): (() => void) => {
  const onBack = (): void => {
    visits += 1;
    notify();
  };
  addEventListener('popstate', onBack);
  addEventListener(changed, notify);
  return () => {
    removeEventListener('popstate', onBack);
    removeEventListener(changed, notify);
  };
};

export const usePageLocation = (): PageLocation => pageLocationOf(useSyncExternalStore(watch, () => location.href));

/** The environment of the current page, or of the last visit if the page has none. */
export const useEnvironment = (): Environment => usePageLocation().environment ?? keptEnvironment();
