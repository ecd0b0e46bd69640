import { expect, test } from 'vitest';
import { accounts } from './evmNode.ts';
import type { Faults } from './faultProxy.ts';
import { addressOf, startTestChain } from './followScene.ts';
import { inUnknownFormat } from './forkOf.ts';
import { follow, serve } from './nodesScene.ts';

const alice = addressOf('alice');
const omissions: Faults = {
  emptiedBloom: 0.1,
  forgedHeader: 0.03,
  emptyLogs: 0.1,
  truncatedLogs: 0.1,
  clampedRange: 0.2,
  nullReceipt: 0.02,
  serverError: 0.02,
};

/** How often nodes must have left something out before they are honest again. */
const enough = 60;
/**
 * Waiting times pass this much faster. In an unknown format the driver must have time to ask a second node more than
 * once.
 */
const [haste, unknownHaste] = [1_000, 10];

test.each([
  ['one node, in a known format', 1, false],
  ['two nodes, in a known format', 2, false],
  ['two nodes, across a fork that is not known', 2, true],
  ['three nodes, across a fork that is not known', 3, true],
])('nothing is missed through %s, whatever they leave out', { tags: ['thorough'] }, async (name, count, isForked) => {
  const chain = await startTestChain();
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  await chain.mine(20);
  const start = await chain.head();
  const above = isForked ? start + 30 : Number.POSITIVE_INFINITY;
  const upstream = inUnknownFormat(chain.upstream, () => above);
  const nodes = await Promise.all(
    Array.from({ length: count }, (_, at) => serve(upstream, { seed: `omissions ${name} ${at}` })),
  );
  const follower = follow(chain, nodes, {
    keep: 100_000,
    nowMs: () => performance.now() * (isForked ? unknownHaste : haste),
  });
  await follower.catchUp();
  for (const node of nodes) node.set(omissions);
  const faulty = (): number => nodes.reduce((sum, node) => sum + node.faulty(), 0);
  for (let at = 1n; faulty() < enough; at++) {
    const others = [chain.transfer(addressOf('bob'), at), { to: alice, value: at }];
    await chain.block(chain.transfer(alice, at), ...others.slice(0, Number(at % 3n)));
    // Now and then the driver falls behind and reads ranges.
    if (at % 60n > 50n) continue;
    await follower.next();
  }
  for (const node of nodes) node.set({});
  await follower.catchUp();
  expect(follower.movements()).toEqual(await follower.walked(start + 1));
  expect(follower.movements().length).toBeGreaterThan(10);
  const kinds = new Set(nodes.flatMap(node => [...node.counts().keys()]));
  expect([...kinds]).toEqual(expect.arrayContaining(['emptiedBloom', 'forgedHeader']));
});
