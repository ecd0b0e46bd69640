import { afterEach, expect, test } from 'vitest';
import { accounts } from './evmNode.ts';
import { type FaultProxy, startFaultProxy, type Upstream } from './faultProxy.ts';
import { addressOf, startFollower, startTestChain, type TestChain } from './followScene.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const decimalsCall = '0x313ce567';
const isInspection = (method: string, params: readonly unknown[]): boolean =>
  method === 'eth_call' && (params[0] as { data?: string }).data === decimalsCall;

/** A node that reports other decimals for every token while the test says so. */
const wrongAbout =
  (upstream: Upstream, isWrong: () => boolean): Upstream =>
  async (method, params) =>
    isWrong() && isInspection(method, params)
      ? { result: `0x${(18).toString(16).padStart(64, '0')}` }
      : upstream(method, params);

/** A node that is rate limited while the test says so. */
const busyWith =
  (upstream: Upstream, isBusy: () => boolean): Upstream =>
  async (method, params) =>
    isBusy() && isInspection(method, params)
      ? { error: { code: -32005, message: 'rate limit exceeded' } }
      : upstream(method, params);

/** A chain whose second token has no code yet, nodes in front of it, and a clock that only the test moves. */
const prepare = async (alter: readonly ((chain: TestChain) => Upstream)[]) => {
  const chain = await startTestChain();
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  await chain.mine(20);
  const proxies = await Promise.all(alter.map(each => startFaultProxy(each(chain), { seed: 'tokens' })));
  let nowMs = 1_000_000;
  const late = addressOf('a token that is not there yet');
  const follow = (tokens: readonly string[]) => {
    const rpcUrls = proxies.map(({ url }) => url);
    const follower = startFollower({ chain, rpcUrls, known: [addressOf('alice')], tokens, nowMs: () => nowMs });
    ends.push(follower.stop);
    const polled = async (): Promise<void> => {
      await chain.mine(1);
      await follower.catchUp();
    };
    const said = (message: string) => follower.logged.filter(line => line.message === message);
    return {
      ...follower,
      polled,
      unfit: () => [...follower.driver.health()!.unfitTokens.keys()],
      disabled: () => said('a currency is disabled').map(({ fields }) => fields.contract),
      enabled: () => said('a currency is enabled again').map(({ fields }) => fields.contract),
    };
  };
  ends.push(() => {
    for (const proxy of proxies) proxy.close();
  });
  return {
    chain,
    late,
    proxies,
    follow,
    /** The token is deployed: its code is there from now on. */
    async place() {
      await chain.node.request('hardhat_setCode', late, await chain.node.code(chain.token));
    },
    pass(seconds: number) {
      nowMs += seconds * 1_000;
    },
  };
};

const honest = ({ upstream }: TestChain): Upstream => upstream;
const inspectionsOf = (proxy: FaultProxy): number => proxy.answers().get('eth_call') ?? 0;

test('a token that was not there is looked at again every minute, and enabled once it is', async () => {
  const { chain, late, proxies, follow, place, pass } = await prepare([honest]);
  const { polled, unfit, disabled, enabled } = follow([chain.token, late]);
  await polled();
  expect(unfit()).toEqual([late]);
  expect(disabled()).toEqual([late]);
  const asked = inspectionsOf(proxies[0]!);
  await place();
  pass(59);
  await polled();
  expect(inspectionsOf(proxies[0]!), 'its minute is not over').toBe(asked);
  expect(unfit()).toEqual([late]);
  pass(1);
  await polled();
  expect(unfit()).toEqual([]);
  expect(enabled()).toEqual([late]);
  pass(1_000);
  await polled();
  expect(inspectionsOf(proxies[0]!), 'only the one that was unfit, once').toBe(asked + 1);
  expect(disabled()).toEqual([late]);
});

test('a token that is still not there is told once', async () => {
  const { chain, late, follow, pass } = await prepare([honest]);
  const { polled, unfit, disabled, enabled } = follow([chain.token, late]);
  for (let minutes = 0; minutes < 3; minutes++) {
    await polled();
    pass(60);
  }
  expect(unfit()).toEqual([late]);
  expect([disabled(), enabled()]).toEqual([[late], []]);
});

test('one node alone does not disable a token that another one has', async () => {
  const { chain, follow } = await prepare([chain => wrongAbout(chain.upstream, () => true), honest]);
  const { polled, unfit, disabled } = follow([chain.token]);
  await polled();
  expect(unfit()).toEqual([]);
  expect(disabled()).toEqual([]);
});

test('two nodes that say the same do', async () => {
  const wrong = (chain: TestChain): Upstream => wrongAbout(chain.upstream, () => true);
  const { chain, follow } = await prepare([wrong, wrong]);
  const { polled, unfit } = follow([chain.token]);
  await polled();
  expect(unfit()).toEqual([chain.token]);
});

test.each(['down', 'busy'])('while the other node is %s, one alone disables it', async fault => {
  let isBusy = fault === 'busy';
  const wrong = (chain: TestChain): Upstream => wrongAbout(chain.upstream, () => true);
  const { chain, proxies, follow, pass } = await prepare([wrong, chain => busyWith(chain.upstream, () => isBusy)]);
  if (fault === 'down') proxies[1]!.set({ serverError: 1 });
  const { polled, unfit, enabled } = follow([chain.token]);
  await polled();
  expect(unfit()).toEqual([chain.token]);
  isBusy = false;
  proxies[1]!.set({});
  pass(60);
  await polled();
  expect(unfit()).toEqual([]);
  expect(enabled()).toEqual([chain.token]);
});

test('a node that has no time for the question changes nothing, and holds up nothing', async () => {
  let isBusy = false;
  const { chain, late, follow, place, pass } = await prepare([chain => busyWith(chain.upstream, () => isBusy)]);
  const { polled, unfit, complaints, enabled } = follow([chain.token, late]);
  await polled();
  await place();
  isBusy = true;
  pass(60);
  await polled();
  expect(unfit()).toEqual([late]);
  expect(complaints).toEqual([]);
  isBusy = false;
  pass(60);
  await polled();
  expect(unfit()).toEqual([]);
  expect(enabled()).toEqual([late]);
});
