import type { Environment } from './environment.ts';

export const plans = ['sandbox', 'starter', 'growth', 'enterprise'] as const;
export type Plan = (typeof plans)[number];

/** Requests per minute, and how many more are allowed once Remaining is zero. */
export type RateLimit = { readonly perMinute: number; readonly burst: number };

const planLimits: Record<Plan, RateLimit> = {
  sandbox: { perMinute: 60, burst: 10 },
  starter: { perMinute: 120, burst: 20 },
  growth: { perMinute: 300, burst: 50 },
  enterprise: { perMinute: 6000, burst: 1000 },
};

export type AccountPlan = {
  readonly plan: Plan;
  readonly rateLimit: number | null;
  readonly burst: number | null;
};

/**
 * The sandbox is always on the Sandbox plan, except that an Enterprise account's own limits apply in both environments.
 */
export const rateLimitOf = (account: AccountPlan, environment: Environment): RateLimit => {
  if (account.plan !== 'enterprise') return planLimits[environment === 'sandbox' ? 'sandbox' : account.plan];
  return {
    perMinute: account.rateLimit ?? planLimits.enterprise.perMinute,
    burst: account.burst ?? planLimits.enterprise.burst,
  };
};
