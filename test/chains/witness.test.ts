import { afterEach, expect, test } from 'vitest';
import { accounts } from './evmNode.ts';
import { startFaultProxy, type Upstream } from './faultProxy.ts';
import { addressOf, startFollower, startTestChain, type TestChain } from './followScene.ts';

const [alice, bob] = [addressOf('alice'), addressOf('bob')];
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const prepare = async (finalityLag?: number) => {
  const chain = await startTestChain(finalityLag === undefined ? {} : { finalityLag });
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  await chain.mine(20);
  return {
    chain,
    async follow(...upstreams: readonly Upstream[]) {
      const proxies = await Promise.all(upstreams.map(upstream => startFaultProxy(upstream, { seed: 'witness' })));
      const rpcUrls = proxies.map(({ url }) => url);
      const follower = startFollower({ chain, rpcUrls, known: [alice], isQuiet: finalityLag === undefined });
      ends.push(follower.stop, ...proxies.map(({ close }) => close));
      await follower.catchUp();
      return follower;
    },
  };
};

const digits = (address: string): string => address.slice(2).toLowerCase();
const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`;

type Log = { readonly logIndex: string; readonly topics: readonly string[] };
const isLogs = (value: unknown): value is Log[] =>
  Array.isArray(value) && value.length > 0 && value.every(each => typeof each === 'object' && 'topics' in each);

/**
 * Blocks with true headers in which everything that Bob receives belongs to Alice: transactions, receipts and balances.
 * Bob's logs explain the bloom filter, and each is followed by one for Alice.
 */
const forgerOf = ({ upstream }: TestChain, balances: Map<unknown, bigint>): Upstream => {
  const forge = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll(digits(bob), digits(alice));
    if (isLogs(value) && value.some(({ topics }) => JSON.stringify(topics).includes(digits(bob)))) {
      return value.flatMap((log, at) => [
        { ...log, logIndex: `0x${(2 * at).toString(16)}` },
        { ...(forge({ ...log }) as Log), logIndex: `0x${(2 * at + 1).toString(16)}` },
      ]);
    }
    if (Array.isArray(value)) return value.map(forge);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, forge(inner)]));
  };
  return async (method, params) => {
    const balance = balances.get((params[1] as { blockHash?: string } | undefined)?.blockHash);
    if (method === 'eth_call' && balance !== undefined) return { result: word(balance) };
    const outcome = await upstream(method, params);
    return 'error' in outcome ? outcome : { result: forge(outcome.result) };
  };
};

test('what one node puts into a block that two name is not verified', async () => {
  const { chain, follow } = await prepare();
  const balances = new Map<unknown, bigint>();
  const follower = await follow(forgerOf(chain, balances), chain.upstream);
  await chain.block(chain.transfer(bob, 1_000n), { to: bob, value: 77n });
  const { number, hash, parentHash } = await chain.blockAt('latest');
  balances.set(parentHash, 0n).set(hash, 1_000n);
  expect((await follower.catchUp()).tags.agreed).toBe(Number(number));
  const forged = [
    { to: alice, contract: chain.token, amount: 1_000n, verified: false },
    { to: alice, contract: null, amount: 77n, verified: false },
  ];
  expect(follower.detailed()).toMatchObject(forged);
  const { driver, host } = follower;
  const again = await driver.reread(Number(number), host, AbortSignal.timeout(10_000));
  expect(again).toMatchObject({ hash, movements: forged });
});

test('what another node tells of as well is verified, of several in one transaction each', async () => {
  const { chain, follow } = await prepare();
  const follower = await follow(chain.upstream, chain.upstream);
  await chain.block(chain.transfer(alice, 5n), chain.transfer(alice, 5n), { to: alice, value: 7n });
  await follower.catchUp();
  expect(follower.detailed().map(({ amount, verified }) => [amount, verified])).toEqual([
    [5n, true],
    [5n, true],
    [7n, true],
  ]);
});

test('where nobody else can tell, it is not verified until the block is read again', async () => {
  const { chain, follow } = await prepare();
  let isBehind = true;
  const lagging: Upstream = (method, params) =>
    isBehind && /^eth_getTransaction/.test(method) ? Promise.resolve({ result: null }) : chain.upstream(method, params);
  const follower = await follow(chain.upstream, lagging);
  await chain.block(chain.transfer(alice, 5n), { to: alice, value: 7n });
  await follower.catchUp();
  expect(follower.detailed()).toMatchObject([{ verified: false }, { verified: false }]);
  isBehind = false;
  const { driver, host } = follower;
  const again = await driver.reread(await chain.head(), host, AbortSignal.timeout(10_000));
  expect(again!.movements).toMatchObject([{ verified: true }, { verified: true }]);
});

test('what one node alone calls final is not: it is as far as two say so', async () => {
  const { chain, follow } = await prepare(10);
  const tagged = new Set<unknown>(['finalized', 'safe']);
  const hasty: Upstream = (method, params) => {
    const asked = params.map(param => (tagged.has(param) ? 'latest' : param));
    return chain.upstream(method, asked);
  };
  const follower = await follow(hasty, chain.upstream);
  const height = await chain.head();
  expect(follower.taken.at(-1)).toMatchObject({
    tags: { safe: height - 10, finalized: height - 10, agreed: height },
  });
});

test('where one of two nodes does not tell what is final, nothing is, and the status says so', async () => {
  const { chain, follow } = await prepare(10);
  const untagged: Upstream = async (method, params) =>
    params[0] === 'finalized' ? { result: null } : chain.upstream(method, params);
  const follower = await follow(chain.upstream, untagged);
  expect(follower.taken.at(-1)).toMatchObject({ tags: { finalized: null } });
  expect(follower.driver.health()).toMatchObject({
    status: 'degraded',
    reason: 'Only one node reports the finalized block; payments complete once two do.',
  });
});
