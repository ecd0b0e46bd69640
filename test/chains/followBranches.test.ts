import { describe, expect, test } from 'vitest';
import { eventually } from '../support/until.ts';
import type { FaultProxy } from './faultProxy.ts';
import { startTestChain, type TestChain } from './followScene.ts';
import { forkOf } from './forkOf.ts';
import { behind, follow, pay, prepare, serve } from './nodesScene.ts';

describe('a node on a branch of its own', () => {
  const forked = async (chain: TestChain, name: string): Promise<FaultProxy> => {
    const above = (await chain.head()) - 2;
    return serve(chain.upstream, { fork: forkOf(chain.upstream, { above, name }) });
  };

  test.each([2, 3])('is not followed, and one of %i does not stop the others', async count => {
    const chain = await prepare({ finalityLag: 3 });
    const height = await chain.head();
    const strange = await forked(chain, 'one');
    const honest = await Promise.all(Array.from({ length: count - 1 }, () => serve(chain.upstream)));
    const follower = follow(chain, [strange, ...honest], { isQuiet: false });
    await follower.catchUp();
    strange.set({ fork: 1 });
    // Its finality covers its own blocks too, after a while.
    for (let at = 1n; at <= 8n; at++) {
      await pay(chain, at);
      await follower.catchUp();
    }
    await eventually(() => expect(strange.counts().get('fork') ?? 0).toBeGreaterThan(0));
    expect(follower.taken.filter(step => step.kind === 'blocks' && step.rollbackTo !== null)).toEqual([]);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
    expect(follower.complaints).toContain('The node is on another branch than the others.');
  });

  test('that is alone for a while makes nothing final, and is left without a halt', async () => {
    const chain = await prepare({ finalityLag: 3 });
    const height = await chain.head();
    const fork = forkOf(chain.upstream, { above: height, name: 'alone' });
    const [strange, honest] = [await serve(chain.upstream, { fork }), await serve(chain.upstream)];
    const follower = follow(chain, [strange, honest], { isQuiet: false });
    expect((await follower.catchUp()).tags).toMatchObject({ agreed: height, finalized: height - 3 });
    strange.set({ fork: 1 });
    honest.set({ serverError: 1 });
    for (let at = 1n; at <= 8n; at++) await pay(chain, at);
    await follower.until(step => step.kind === 'idle' && step.at.number === height + 8);
    expect(follower.taken.at(-1)).toMatchObject({ tags: { agreed: height, finalized: height - 3 } });
    strange.set({});
    honest.set({});
    await follower.catchUp();
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
    const { tags } = (await follower.until(step => step.kind === 'idle' && step.tags.agreed === height + 8)) as {
      tags: { finalized: number };
    };
    expect(tags.finalized).toBe(height + 5);
  });

  test.each([1, 2])(
    'takes nothing back while the others are in an ordinary reorg, nor do %i on one branch',
    async count => {
      const chain = await prepare({ finalityLag: 3 });
      const height = await chain.head();
      const fork = forkOf(chain.upstream, { above: height - 8, name: 'deep' });
      const strange = await Promise.all(Array.from({ length: count }, () => serve(chain.upstream, { fork })));
      const honest = await Promise.all(Array.from({ length: count + 1 }, () => serve(chain.upstream)));
      const follower = follow(chain, [...strange, ...honest], { isQuiet: false });
      expect((await follower.catchUp()).tags).toMatchObject({ agreed: height, finalized: height - 3 });
      // Nobody has our newest block any more, but the others have all below it.
      for (const node of strange) node.set({ fork: 1 });
      await chain.rewind(height - 2);
      await chain.mine(4);
      for (let at = 1n; at <= 3n; at++) {
        await pay(chain, at);
        await follower.catchUp();
      }
      await eventually(() => expect(strange[0]!.counts().get('fork') ?? 0).toBeGreaterThan(0));
      expect(follower.taken.filter(({ kind }) => kind === 'halt')).toEqual([]);
      expect(follower.taken.filter(step => step.kind === 'blocks' && step.rollbackTo !== null)).toMatchObject([
        { rollbackTo: { number: height - 2 } },
      ]);
      expect(follower.movements()).toEqual(await follower.walked(height + 1));
    },
  );

  test('that is alone for a while takes nothing back on which two had agreed', async () => {
    const chain = await prepare();
    const height = await chain.head();
    const [strange, honest] = [await forked(chain, 'alone'), await serve(chain.upstream)];
    const follower = follow(chain, [strange, honest]);
    expect((await follower.catchUp()).tags.agreed).toBe(height);
    strange.set({ fork: 1 });
    honest.set({ serverError: 1 });
    const pending = follower.next();
    const alone = () => strange.counts().get('fork') ?? 0;
    await Promise.race([pending, eventually(() => expect(alone()).toBeGreaterThan(5))]);
    strange.set({});
    honest.set({});
    await pending;
    await follower.catchUp();
    expect(follower.taken.filter(step => step.kind === 'blocks' && step.rollbackTo !== null)).toEqual([]);
  });

  test('that is right waits for the other to say so, however long that one is away', async () => {
    const chain = await prepare();
    const height = await chain.head();
    const [first, second] = [await serve(chain.upstream), await serve(chain.upstream)];
    const follower = follow(chain, [first, second]);
    expect((await follower.catchUp()).tags.agreed).toBe(height);
    second.set({ serverError: 1 });
    await chain.rewind(height - 3);
    await chain.mine(5);
    const polls = () => first.answers().get('eth_getBlockByNumber') ?? 0;
    const [before, pending] = [polls(), follower.next()];
    await Promise.race([pending, eventually(() => expect(polls()).toBeGreaterThan(before + 50))]);
    expect(follower.taken.filter(step => step.kind === 'blocks' && step.rollbackTo !== null)).toEqual([]);
    second.set({});
    const step = await pending;
    expect(step).toMatchObject({ kind: 'blocks', rollbackTo: { number: height - 3 } });
    expect((await follower.catchUp()).tags.agreed).toBe(height + 2);
  });

  test.each([
    ['tells of it, too', {}],
    ['is away', { serverError: 1 }],
  ])('makes nothing final of the one that it left, where its head is old and the first %s', async (_, faults) => {
    const chain = await prepare({ finalityLag: 3 });
    const height = await chain.head();
    let top = height;
    const first = await serve(chain.upstream);
    const others = [await serve(behind(chain, () => top)), await serve(behind(chain, () => top))];
    const follower = follow(chain, [first, ...others], { isQuiet: false });
    expect((await follower.catchUp()).tags).toMatchObject({ agreed: height, finalized: height - 3 });
    first.set(faults);
    top = height - 4;
    await chain.rewind(height - 3);
    await chain.mine(5);
    expect(await chain.finalized()).toBe(height - 1);
    const polls = () => others[0]!.answers().get('eth_getBlockByNumber') ?? 0;
    const before = polls();
    await follower.until(() => polls() > before + 50);
    expect(follower.taken.at(-1)).toMatchObject({ kind: 'idle', tags: { finalized: height - 3 } });
    top = height + 2;
    first.set({});
    await follower.until(step => step.kind === 'idle' && step.tags.agreed === height + 2);
    expect(follower.taken.filter(step => step.kind === 'halt')).toEqual([]);
    expect(follower.taken.at(-1)).toMatchObject({ tags: { finalized: height - 1 } });
  });

  test('far ahead of all others is not followed either', async () => {
    const chain = await prepare({ finalityLag: 3 });
    const height = await chain.head();
    const other = await startTestChain({ finalityLag: 3 });
    await other.mine(height + 100);
    const strange = await serve(chain.upstream, { fork: other.upstream });
    const honest = [await serve(chain.upstream), await serve(chain.upstream)];
    const follower = follow(chain, [...honest, strange], { isQuiet: false });
    await follower.catchUp();
    strange.set({ fork: 1 });
    for (let at = 1n; at <= 3n; at++) {
      await pay(chain, at);
      await follower.catchUp();
    }
    expect(strange.counts().get('fork')).toBeGreaterThan(0);
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
    expect(follower.taken.filter(step => step.kind === 'blocks' && step.rollbackTo !== null)).toEqual([]);
  });

  test('is followed where it is the branch of most', async () => {
    const chain = await prepare();
    const height = await chain.head();
    // Two nodes see the reorg; the third keeps its old branch.
    const stuck = await serve(behind(chain, () => height));
    const follower = follow(chain, [stuck, await serve(chain.upstream), await serve(chain.upstream)]);
    await pay(chain, 1n);
    await follower.catchUp();
    await chain.rewind(height);
    await pay(chain, 2n);
    await pay(chain, 3n);
    await follower.catchUp();
    expect(follower.movements().map(({ amount }) => amount)).toEqual(expect.arrayContaining([2n, 3n]));
    expect(follower.movements()).toEqual(await follower.walked(height + 1));
  });
});
