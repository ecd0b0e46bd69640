import { useSyncExternalStore } from 'react';
import type { Environment } from '../../src/core/environment.ts';

/** The page that the address names. The environment is part of the address, so that two tabs never mix. */

export const base = '/dashboard';
const words = { sandbox: 'test', production: 'live' } as const satisfies Record<Environment, string>;
const changed = 'florin:location';

export type PageLocation = {
  /** Null on pages outside both: sign-in, setup, invitation. */
  readonly environment: Environment | null;
  /** Below the environment, or below the base: `/payments/pay_1`. */
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
/** Of the last visit; a new person begins in the sandbox. */
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
    // Nothing depends on it.
  }
};

export const here = (): PageLocation => pageLocationOf(location.href);
export const environmentHere = (): Environment => here().environment ?? keptEnvironment();

/** `to` begins with a slash: `/payments?status=pending`. */
export const hrefIn = (environment: Environment, to: string): string =>
  `${base}/${words[environment]}${to === '/' ? '' : to}`;
export const outsideHref = (to: string): string => `${base}${to}`;

let visits = 0;
/** Whether something was navigated to since the app was loaded: then focus goes to the new heading. */
export const hasNavigated = (): boolean => visits > 0;

export const navigate = (href: string, { isReplacing = false } = {}): void => {
  if (isReplacing) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  visits += 1;
  dispatchEvent(new Event(changed));
  if (!isReplacing) scrollTo(0, 0);
};

/** Same page, other filters: nothing is focused and nothing scrolls. */
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

/** Of the page that is shown. Pages outside an environment do not ask. */
export const useEnvironment = (): Environment => usePageLocation().environment ?? keptEnvironment();
