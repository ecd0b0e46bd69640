import { RpcFault } from '../chains/evm/rpc.ts';
import type { Block } from '../core/chain.ts';
import { readGenuineCoins } from '../engine/chain/genuineCoins.ts';
import { closedPayments, unwatchPayments } from '../storage/chain/coins.ts';
import type { ChainSources } from './chainSources.ts';
import { readCoinPage } from './coinPage.ts';

/** One call to a node reads 500 balances. One page every 15 s: 100,000 closed payments take 50 minutes. */
const closedPageSize = 500;
const intervalMs = 15_000;
/** Pages in one turn whose payments are all over: these cost no call. */
const maxOverPages = 20;

/**
 * Reads the native coin of closed payments, in any currency, until their late window is over: contracts send coin
 * without a transaction to the address. What is found is late, an excess or a stray, as the facts say.
 */
export const createClosedScanner = (sources: ChainSources, clock: { now(): number } = performance) => {
  const { context, lease } = sources;
  const { db, log } = context;
  const { caip2 } = lease;
  let after = '';
  let lastTurnMs = Number.NEGATIVE_INFINITY;

  /** Reads the next page. Returns whether it cost no call and there is more. */
  const readPage = async (head: Block, signal: AbortSignal): Promise<boolean> => {
    const page = await readGenuineCoins(context, caip2, () =>
      closedPayments(db, context.vault, caip2, { after, limit: closedPageSize }),
    );
    await unwatchPayments(
      db,
      page.filter(({ isOver }) => isOver).map(({ id }) => id),
    );
    const open = page.filter(({ isOver }) => !isOver);
    if (open.length > 0 && (await readCoinPage(sources, open, head, 'one', signal)) === null) {
      log.warn({ caip2 }, 'balances of closed payments could not be read');
      return false;
    }
    const isLast = page.length < closedPageSize;
    after = isLast ? '' : page.at(-1)!.id;
    return !isLast && open.length === 0;
  };

  return async (head: Block, signal: AbortSignal): Promise<void> => {
    if (clock.now() - lastTurnMs < intervalMs) return;
    lastTurnMs = clock.now();
    try {
      for (let pages = 0; pages < maxOverPages && (await readPage(head, signal)); pages++);
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      log.warn({ caip2, fault: error.message }, 'balances of closed payments could not be read');
    }
  };
};
