import type { Scope } from './environment.ts';

/** One payment of one tenant. */
export type PaymentKey = Scope & { id: string };
