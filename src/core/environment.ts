export const environments = ['production', 'sandbox'] as const;
export type Environment = (typeof environments)[number];

/** The tenant of a request. Every statement that touches tenant data takes one. */
export type Scope = { readonly accountId: string; readonly environment: Environment };
