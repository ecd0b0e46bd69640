import { beforeAll, expect, test } from 'vitest';
import { type FullBlock, isProven, type LogEntry, readFullBlock, readLog } from '../../src/chains/evm/block.ts';
import { accounts } from './evmNode.ts';
import { addressOf, startTestChain, type TestChain } from './followScene.ts';

const [alice, bob] = [addressOf('alice'), addressOf('bob')];

let chain: TestChain;
let block: FullBlock;
let logs: readonly LogEntry[];
const readLatest = async (): Promise<[FullBlock, LogEntry[]]> => {
  const latest = readFullBlock(await chain.blockAt('latest', true));
  const answer = await chain.node.request<unknown[]>('eth_getLogs', { blockHash: latest.hash });
  return [latest, answer.map(readLog)];
};
beforeAll(async () => {
  chain = await startTestChain();
  await chain.block(chain.mint(accounts[0], 1_000n));
  // Alice's second transfer sets no bit that her first did not set.
  await chain.block(chain.transfer(alice, 1n), chain.transfer(bob, 2n), chain.transfer(alice, 3n));
  [block, logs] = await readLatest();
});

test('all logs of a block prove that they are all', () => {
  expect(logs).toHaveLength(3);
  expect(isProven(block, logs)).toBe(true);
});

test.each([0, 1, 2])('without log %i they do not', left => {
  expect(
    isProven(
      block,
      logs.filter((_, at) => at !== left),
    ),
  ).toBe(false);
});

test('no logs prove nothing where the filter names some', () => {
  expect(isProven(block, [])).toBe(false);
});

test('an empty block needs none', async () => {
  await chain.block();
  const [empty, none] = await readLatest();
  expect(none).toEqual([]);
  expect(isProven(empty, none)).toBe(true);
});
