import { createCoinScanner } from '../../src/workers/coinScanner.ts';
import { byContract } from '../chains/sentByContract.ts';
import type { QuietScene } from './quietScene.ts';
import { startWatchedChain } from './watchedChain.ts';

/** A chain, and the scanner of its payments' balances. */
export const startCoinScene = async (quiet: QuietScene, options: Parameters<typeof startWatchedChain>[1] = {}) => {
  const watched = await startWatchedChain(quiet, options);
  const scan = createCoinScanner(watched.context, watched.driver, watched.lease, 0);
  /** Reads the chain and scans the balances once, as an idle watcher does. */
  const turn = async (): Promise<void> => {
    const { head, begunAt } = await watched.read();
    await scan(head, begunAt, watched.signal);
  };
  return {
    ...watched,
    scan,
    turn,
    /** The time up to which all balances were scanned, from the database. */
    async caughtUpAt(): Promise<Date | null> {
      const text = `select coins_caught_up_at as at from chains where caip2 = '${watched.caip2}'`;
      return (await quiet.read<{ at: Date | null }>(text))[0]!.at;
    },
    /** A payment that a contract paid, with blocks on top. */
    async paidOnce() {
      const { chain, payments } = watched;
      const [payment] = await payments(1);
      await chain.mine(20);
      await turn();
      await chain.block(byContract(payment!.address, 7n));
      const paidAt = await chain.head();
      await chain.mine(9);
      return { payment: payment!, paidAt };
    },
  };
};

export type CoinScene = Awaited<ReturnType<typeof startCoinScene>>;

/** Coin on record as a test expects it. */
export const coin = (blockNumber: number, amount: number) => ({
  blockNumber,
  amount: `${amount}`,
  verified: true,
  isCoin: true,
});
/** What is logged when a turn fails. */
export const unread = 'balances of native coin could not be read';
