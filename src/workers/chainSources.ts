import type { Driver } from '../chains/driver.ts';
import type { Context } from '../engine/context.ts';
import type { Lease } from '../storage/chain/chains.ts';

/** What a worker of one chain reads from and writes to. */
export type ChainSources = { readonly context: Context; readonly driver: Driver; readonly lease: Lease };
