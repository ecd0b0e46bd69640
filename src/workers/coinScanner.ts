import type { Driver } from '../chains/driver.ts';
import { RpcFault } from '../chains/evm/rpc.ts';
import type { Block } from '../core/chain.ts';
import { readGenuineCoins } from '../engine/chain/genuineCoins.ts';
import type { Context } from '../engine/context.ts';
import { type Lease, writeCoinsCaughtUp } from '../storage/chain/chains.ts';
import { openCoinPayments } from '../storage/chain/coins.ts';
import { readCoinPage } from './coinPage.ts';

/** Payments per turn. A node reads the balances of 500 addresses per call. */
const pageSize = 2_000;

/**
 * Reads the balances of open native-coin payments, one page per turn and at most one turn per interval. With n of them
 * open, coin sent by a contract is found within (n / 2,000 + 1) intervals. These payments expire only up to the start
 * of the last complete round.
 */
export const createCoinScanner = (context: Context, driver: Driver, lease: Lease, intervalMs: number) => {
  const { caip2 } = lease;
  let after = '';
  let roundStartedAt: Date | null = null;
  /** The head at which the current round began; empty once the head changed. */
  let roundHash = '';
  let lastTurnMs = Number.NEGATIVE_INFINITY;
  /** The head at which a whole round was made. */
  let lastHash = '';

  const turn = async (head: Block, startedAt: Date, signal: AbortSignal): Promise<void> => {
    if (after === '') [roundStartedAt, roundHash] = [startedAt, head.hash];
    else if (head.hash !== roundHash) roundHash = '';
    const page = await readGenuineCoins(context, caip2, () =>
      openCoinPayments(context.db, context.vault, caip2, { after, limit: pageSize }),
    );
    const doubted = await readCoinPage({ context, driver, lease }, page, head, 'one', signal);
    if (doubted === null) return warn('Too few nodes have the state of the newest block.');
    const isLastPage = page.length < pageSize;
    after = isLastPage ? '' : page.at(-1)!.id;
    if (!isLastPage) return;
    lastHash = roundHash;
    await writeCoinsCaughtUp(context.db, lease, roundStartedAt!);
  };

  const warn = (fault: string): void => context.log.warn({ caip2, fault }, 'balances of native coin could not be read');

  /** `startedAt` is when the poll began that found `head` to be the newest block. A failed turn is repeated. */
  return async (head: Block, startedAt: Date, signal: AbortSignal): Promise<void> => {
    const nowMs = performance.now();
    // While no new block comes, balances do not change.
    if (head.hash === lastHash && after === '') return writeCoinsCaughtUp(context.db, lease, startedAt);
    if (nowMs - lastTurnMs < intervalMs) return;
    lastTurnMs = nowMs;
    try {
      await turn(head, startedAt, signal);
    } catch (error) {
      // Only native-coin payments wait for this. Reading blocks goes on.
      if (!(error instanceof RpcFault)) throw error;
      warn(error.message);
    }
  };
};
