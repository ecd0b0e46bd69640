import type { Environment } from '../../../src/core/environment.ts';

/** The list of payments as it was left in this tab, so that the way back from a payment leads to it. */
const key = (environment: Environment): string => `florin.payments.${environment}`;

export const keepList = (environment: Environment, query: URLSearchParams): void => {
  try {
    sessionStorage.setItem(key(environment), query.toString());
  } catch {
    // The way back leads to the whole list then.
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

/** After signing out: somebody may have searched for a name. */
export const forgetLists = (): void => {
  try {
    for (const environment of ['sandbox', 'production'] as const) sessionStorage.removeItem(key(environment));
  } catch {
    // Nothing was kept.
  }
};
