import type { Driver } from '../chains/driver.ts';
import { RpcFault } from '../chains/evm/rpc.ts';
import type { Block } from '../core/chain.ts';
import { applyCoins } from '../engine/applyCoins.ts';
import type { Context } from '../engine/context.ts';
import { findCoins } from '../engine/findCoins.ts';
import { storedBlock } from '../storage/blocks.ts';
import { type Lease, writeCoinsCaughtUp } from '../storage/chains.ts';
import { type CoinPayment, openCoinPayments } from '../storage/coins.ts';

/** One page is one question for each 500 of them. Beyond so many open payments, a round takes several turns. */
const pageSize = 2_000;

/**
 * Looks at the balances of open native-coin payments, a page a turn and at most one turn an interval: with n of them
 * open, coin that a contract sends is found within (n / 2,000 + 1) intervals. Time passes for these payments as far as
 * whole rounds have come.
 */
export const createCoinScanner = (context: Context, driver: Driver, lease: Lease, intervalMs: number) => {
  const { caip2 } = lease;
  let after = '';
  let roundBegunAt: Date | null = null;
  /** The head of the round that is under way; empty once there was another. */
  let roundHash = '';
  let lastTurnMs = Number.NEGATIVE_INFINITY;
  /** The head at which all of them were looked at. */
  let lastHash = '';

  const turn = async (head: Block, begunAt: Date, signal: AbortSignal): Promise<void> => {
    if (after === '') [roundBegunAt, roundHash] = [begunAt, head.hash];
    else if (head.hash !== roundHash) roundHash = '';
    const page = await openCoinPayments(context.db, caip2, after, pageSize);
    const find = (payments: readonly CoinPayment[], sources: 'one' | 'quorum') =>
      findCoins(payments, head, {
        balances: (block, holders) => driver.coinBalances(block, holders, sources, signal),
        stored: number => storedBlock(context.db, caip2, number),
      });
    // Few addresses have received anything, and nothing but a balance speaks for them: those are asked about again.
    const first = await find(page, 'one');
    const suspected = new Set(first?.map(({ to }) => to));
    const found =
      first &&
      (await find(
        page.filter(({ address }) => suspected.has(address)),
        'quorum',
      ));
    if (found === null) return warn('Too few nodes have the state of the newest block.');
    if (found.length > 0) await applyCoins(context, lease, found);
    const isRound = page.length < pageSize;
    after = isRound ? '' : page.at(-1)!.id;
    if (!isRound) return;
    lastHash = roundHash;
    await writeCoinsCaughtUp(context.db, lease, roundBegunAt!);
  };

  const warn = (fault: string): void => context.log.warn({ caip2, fault }, 'balances of native coin could not be read');

  /** `begunAt` is when the poll began that found `head` to be all there is. A turn that fails is done again. */
  return async (head: Block, begunAt: Date, signal: AbortSignal): Promise<void> => {
    const nowMs = performance.now();
    // On a chain that rests, balances rest as well.
    if (head.hash === lastHash && after === '') return writeCoinsCaughtUp(context.db, lease, begunAt);
    if (nowMs - lastTurnMs < intervalMs) return;
    lastTurnMs = nowMs;
    try {
      await turn(head, begunAt, signal);
    } catch (error) {
      // A node without the means only keeps native-coin payments waiting; what blocks say goes on.
      if (!(error instanceof RpcFault)) throw error;
      warn(error.message);
    }
  };
};
