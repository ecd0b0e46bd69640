import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Agreement, createAgreement, type Voters } from '../../src/chains/evm/agreement.ts';
import { readHeader } from '../../src/chains/evm/block.ts';
import { createNode } from '../../src/chains/evm/node.ts';
import type { NodeReport } from '../../src/chains/evm/survey.ts';
import type { Block } from '../../src/core/chain.ts';
import { type FaultProxy, startFaultProxy, type Upstream } from './faultProxy.ts';
import { startTestChain, type TestChain } from './followScene.ts';
import { forkOf } from './forkOf.ts';

const signal = AbortSignal.timeout(60_000);
const [fork, height] = [20, 40];
let chain: TestChain;
let other: Upstream;
let block: Block;
let agreement: Agreement;
const proxies: FaultProxy[] = [];
beforeAll(async () => {
  chain = await startTestChain();
  await chain.mine(height - (await chain.head()));
  other = forkOf(chain.upstream, { above: fork, name: 'other' });
  block = await headerAt(height);
  agreement = createAgreement({ storedBlock: headerAt }, 2, signal);
});
afterAll(() => {
  for (const proxy of proxies) proxy.close();
});

const headerAt = async (number: number): Promise<Block> => readHeader(await chain.blockAt(number));

/** The report of a node that serves this branch up to a height. */
const see = async (upstream: Upstream, top: number): Promise<NodeReport> => {
  const proxy = await startFaultProxy(upstream, { seed: 'agreement' });
  proxies.push(proxy);
  const node = createNode(proxy.url, 0, {}, () => performance.now());
  const head = readHeader(await node.call('eth_getBlockByNumber', [`0x${top.toString(16)}`, false], signal));
  return { node, head, safe: null, finalized: null };
};
const ours = (top = height): Promise<NodeReport> => see(chain.upstream, top);
const theirs = (top = height): Promise<NodeReport> => see(other, top);
/** A node that sent a report and no longer answers. */
const silent = async (report: NodeReport): Promise<NodeReport> => ({
  ...report,
  node: createNode('http://127.0.0.1:9/', 0, {}, () => performance.now()),
});

describe('whether a block stands against a node that has another one', () => {
  /** Votes of the node itself, of nodes at the same height, and of nodes that lag. */
  const judge = async (fresh: readonly NodeReport[], stale: readonly NodeReport[] = []) => {
    const against = await theirs();
    const voters: Voters = { all: [against, ...fresh, ...stale], fresh: [against, ...fresh] };
    return agreement.judge(against, voters, block);
  };

  test('it stands where most have it, even those that lag', async () => {
    expect(await judge([], [await ours(30), await ours(25)])).toBe('stands');
  });

  test('and where half of those have it that do not lag, whatever those say that do', async () => {
    expect(await judge([await ours()], [await theirs(30), await theirs(25)])).toBe('stands');
  });

  test('it is gone where as many as are asked for say so, and more than have it', async () => {
    expect(await judge([await theirs()])).toBe('gone');
    expect(await judge([await theirs(), await ours()])).toBe('gone');
    expect(await judge([await theirs()], [await ours(30)])).toBe('gone');
    expect(await judge([], [await theirs(30)])).toBe('gone');
  });

  test('nodes on branches of their own do not agree that it is gone', async () => {
    const third = () => see(forkOf(chain.upstream, { above: fork, name: 'third' }), height);
    expect(await judge([await third()])).toBe('doubtful');
    expect(await judge([await third(), await ours()], [await ours(30)])).toBe('stands');
    expect(await judge([await third(), await theirs()])).toBe('gone');
  });

  test('one alone leaves it in doubt, with others that cannot say', async () => {
    expect(await judge([])).toBe('doubtful');
    // Below the fork the branches are the same.
    expect(await judge([], [await ours(fork), await theirs(fork)])).toBe('doubtful');
  });
});

describe('how far nodes agree', () => {
  const agreed = (reports: readonly NodeReport[]) => agreement.agreedHeight(reports, block);

  test('as far as the second of them', async () => {
    expect(await agreed([await ours(), await ours()])).toBe(height);
    expect(await agreed([await ours(), await ours(33), await ours(31)])).toBe(33);
    expect(await agreed([await ours(), await theirs(33), await ours(31)])).toBe(31);
  });

  test('not at all where one has another branch, or does not answer', async () => {
    expect(await agreed([await ours(), await theirs()])).toBe(null);
    expect(await agreed([await ours()])).toBe(null);
    const lower = await headerAt(height - 2);
    expect(await agreement.agreedHeight([await silent(await ours()), await ours()], lower)).toBe(null);
  });

  test('one that is asked alone is believed', async () => {
    const alone = createAgreement({ storedBlock: headerAt }, 1, signal);
    expect(await alone.agreedHeight([await theirs()], block)).toBe(height);
  });
});

describe('how high nodes call blocks of ours final', () => {
  /** Nodes by their head and what they call final, each on our branch or on the other one. */
  type Seen = readonly [head: Promise<NodeReport>, final: Promise<NodeReport>];
  const finalized = (...nodes: readonly Seen[]) => finalizedAt(block, ...nodes);
  const finalizedAt = async (at: Block, ...nodes: readonly Seen[]) => {
    const reports = nodes.map(async ([seen, final]) => {
      const { head } = await final;
      return { ...(await seen), safe: head, finalized: head };
    });
    const tags = await agreement.agreedTags(await Promise.all(reports), at);
    expect(tags.safe).toBe(tags.finalized);
    return tags.finalized;
  };

  test('as high as the second of them', async () => {
    expect(await finalized([ours(), ours(36)], [ours(), ours(34)], [ours(), ours(30)])).toBe(34);
    expect(await finalized([ours(), ours(36)])).toBe(null);
  });

  test('one that lags is heard as well, up to its head', async () => {
    expect(await finalized([ours(), ours(36)], [ours(35), ours(34)])).toBe(34);
    expect(await finalized([ours(), ours(36)], [ours(33), ours(34)])).toBe(33);
  });

  test('not one that is on another branch', async () => {
    expect(await finalized([ours(), ours(36)], [theirs(), theirs(36)])).toBe(null);
    expect(await finalized([ours(), ours(36)], [theirs(height - 1), theirs(36)])).toBe(null);
    expect(await finalized([theirs(), theirs(fork)], [theirs(), theirs(fork)])).toBe(null);
  });

  test('not another block, by one whose head is so old that it is on our branch', async () => {
    expect(await finalized([ours(), ours(36)], [ours(fork), theirs(36)])).toBe(null);
    expect(await finalized([ours(fork), theirs(36)], [ours(fork), theirs(36)])).toBe(null);
  });

  test('above what we have, by those alone whose heads are not older than what they call final', async () => {
    const at = await headerAt(30);
    expect(await finalizedAt(at, [ours(), ours(36)], [ours(), ours(36)])).toBe(36);
    // The chain left our newest block between the two answers.
    expect(await finalizedAt(at, [ours(30), theirs(36)], [ours(30), theirs(36)])).toBe(null);
    expect(await finalizedAt(at, [ours(31), theirs(36)], [ours(31), theirs(31)])).toBe(null);
  });

  test('not one that cannot say whether it is on our branch', async () => {
    const further = { ...(await headerAt(height)), number: height + 5, parentHash: `0x${'1'.repeat(64)}` as const };
    const gone = silent({ ...(await ours()), head: { ...(await ours()).head, ...further } });
    expect(await finalized([ours(), ours(36)], [gone, ours(36)])).toBe(null);
  });
});
