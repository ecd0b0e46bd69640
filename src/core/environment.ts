export const environments = ['production', 'sandbox'] as const;
export type Environment = (typeof environments)[number];

/** Who a request acts for. Every statement that touches tenant data takes one. */
export type Scope = { readonly accountId: string; readonly environment: Environment };
