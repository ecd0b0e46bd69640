import type { Environment } from '../../../src/core/environment.ts';

/** Remembers the filters of the payment list in this tab, so that the link back from a payment keeps them. */
const key = (environment: Environment): string => `florin.payments.${environment}`;

export const keepList = (environment: Environment, query: URLSearchParams): void => {
  try {
    sessionStorage.setItem(key(environment), query.toString());
  } catch {
    // Storage may be blocked. The link back then leads to the whole list.
  }
};

export const keptList = (environment: Environment): string => {
  try {
    const query = sessionStorage.getItem(key(environment)) ?? '';
    return query === '' ? '/payments' : `/payments?${query}`;
  } catch {
    return '/payments';
  }
};

/** Called after signing out, because a search may contain personal data. */
export const forgetLists = (): void => {
  try {
    for (const environment of ['sandbox', 'production'] as const) sessionStorage.removeItem(key(environment));
  } catch {
    // Storage is blocked, so nothing was stored.
  }
};
