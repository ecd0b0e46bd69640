import type { Driver } from '../driver.ts';
import { readBalances } from './balances.ts';
import { type EvmNode, isStateGone } from './node.ts';

type Balances = ReadonlyMap<string, bigint>;

const pickOf = (
  holders: readonly string[],
  answers: readonly Balances[],
  isBetter: (a: bigint, b: bigint) => boolean,
) =>
  new Map(
    holders.map(holder => {
      const balances = answers.map(answer => answer.get(holder)!);
      return [holder, balances.reduce((best, balance) => (isBetter(balance, best) ? balance : best))];
    }),
  );

/** Asks nodes for balances. A node that fails moves to the end. */
export const createNodeBalances = (nodes: readonly EvmNode[], quorum: number): Driver['balances'] => {
  let inOrder = [...nodes];
  return async (question, sources, signal) => {
    const { token, holders, block } = question;
    const available = inOrder.filter(node => !node.isBackingOff());
    const answers: Balances[] = [];
    for (const node of available.length > 0 ? available : inOrder.slice(0, 1)) {
      try {
        answers.push(await readBalances(node, { token, holders, blockHash: block.hash }, signal));
      } catch (error) {
        if (isStateGone(error)) continue;
        inOrder = [...inOrder.filter(other => other !== node), node];
        throw error;
      }
      if (answers.length < (sources === 'one' ? 1 : quorum)) continue;
      return pickOf(holders, answers, sources === 'highest' ? (a, b) => a > b : (a, b) => a < b);
    }
    return null;
  };
};
