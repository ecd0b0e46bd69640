import { type Abi, encodeDeployData, getAddress, type Hex } from 'viem';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import tokenArtefact from '../../contracts/artefacts/TestToken.json' with { type: 'json' };
import { accounts, type Receipt } from './evmNode.ts';
import { type FaultProxyOptions, startFaultProxy, type Upstream } from './faultProxy.ts';
import { addressOf, type FollowerOptions, startFollower, startTestChain, type TestChain } from './followScene.ts';
import { testContracts } from './testContracts.ts';

const [alice, bob] = [addressOf('alice'), addressOf('bob')];
const self = getAddress(accounts[1]);

let chain: TestChain;
let lying: string;
let rejecting: string;
const deploy = async (contract: string, data = testContracts.get(contract)!.creationCode): Promise<string> => {
  const [hash] = await chain.block({ data, gas: 2_000_000n });
  return getAddress((await chain.node.receiptOf(hash!)).contractAddress!);
};
beforeAll(async () => {
  chain = await startTestChain();
  for (const holder of accounts) await chain.block(chain.mint(holder, 10n ** 15n));
  lying = await deploy('LyingToken');
  rejecting = await deploy('RejectingTreasury');
  await chain.mine(20);
});

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

type Options = Partial<FollowerOptions> & { proxy?: Partial<FaultProxyOptions>; upstream?: Upstream };

/** What the driver reports after it has caught up. */
const watch = async ({ proxy: proxying, upstream = chain.upstream, ...options }: Options = {}) => {
  const proxy = await startFaultProxy(upstream, { seed: 'movements', ...proxying });
  const known = [alice, bob, self, rejecting];
  const follower = startFollower({ chain, rpcUrls: [proxy.url], known, tokens: [chain.token, lying], ...options });
  ends.push(follower.stop, proxy.close);
  await follower.catchUp();
  const before = new Set(follower.detailed().map(({ key }) => key));
  return {
    proxy,
    follower,
    told: async () => {
      await follower.catchUp();
      return follower.detailed().filter(({ key }) => !before.has(key));
    },
  };
};

const statusOf = async (hash: Hex): Promise<string> => ((await chain.node.receiptOf(hash)) as Receipt).status;

describe('credited', () => {
  test('more than any amount is reported as it is and never verified', async () => {
    const { told } = await watch();
    const most = 10n ** 54n;
    await chain.block(chain.mint(alice, most));
    await chain.block(chain.mint(bob, most + 1n));
    expect((await told()).map(({ amount, verified }) => [amount, verified])).toEqual([
      [most, true],
      [most + 1n, false],
    ]);
  });

  test('a token and the native coin, with sender, transaction and amount', async () => {
    const { told } = await watch();
    const amount = 2n ** 170n + 1n;
    await chain.block(chain.mint(accounts[0], amount));
    const [first, second] = await chain.block(chain.transfer(alice, amount), { to: bob, value: 12_345n });
    const movements = await told();
    expect(movements).toEqual([
      expect.objectContaining({
        txHash: first,
        from: getAddress(accounts[0]),
        to: alice,
        contract: chain.token,
        amount,
      }),
      expect.objectContaining({
        txHash: second,
        from: getAddress(accounts[0]),
        to: bob,
        contract: null,
        amount: 12_345n,
      }),
    ]);
    expect(movements.every(({ verified }) => verified)).toBe(true);
  });

  test('several in one block to one address, apart from each other', async () => {
    const { told } = await watch();
    await chain.block(chain.transfer(alice, 3n), chain.transfer(alice, 3n), chain.mint(alice, 3n));
    const movements = await told();
    expect(movements.map(({ amount, verified }) => [amount, verified])).toEqual(Array(3).fill([3n, true]));
    expect(new Set(movements.map(({ key }) => key)).size).toBe(3);
  });

  test('what is sent on in the same block is credited all the same', async () => {
    const { told } = await watch();
    await chain.block(chain.transfer(self, 50n), { ...chain.transfer(addressOf('elsewhere'), 50n), from: self });
    expect((await told()).map(({ to, amount, verified }) => [to, amount, verified])).toEqual([[self, 50n, true]]);
  });
});

describe('not credited', () => {
  test('a transaction that failed, of a token', async () => {
    const { told } = await watch();
    const [hash] = await chain.block(chain.transfer(alice, 10n ** 70n));
    expect(await statusOf(hash!)).toBe('0x0');
    expect(await told()).toEqual([]);
  });

  test('native coin in a transaction that failed', async () => {
    const { told } = await watch();
    const [hash] = await chain.block({ to: rejecting, value: 5n });
    expect(await statusOf(hash!)).toBe('0x0');
    expect(await told()).toEqual([]);
  });

  test('a value of zero, of a token and of native coin', async () => {
    const { told } = await watch();
    await chain.block(chain.transfer(alice, 0n), chain.mint(bob, 0n), { to: alice, value: 0n });
    expect(await told()).toEqual([]);
  });

  test('what somebody sends to himself, of a token and of native coin', async () => {
    const { told } = await watch();
    await chain.block({ ...chain.transfer(self, 9n), from: self }, { to: self, from: self, value: 9n });
    expect(await told()).toEqual([]);
  });

  test('a token that is not listed', async () => {
    const { told } = await watch({ tokens: [chain.token] });
    await chain.block(chain.transfer(alice, 9n, lying));
    expect(await told()).toEqual([]);
  });

  test('what goes to others', async () => {
    const { told } = await watch();
    await chain.block(chain.transfer(addressOf('nobody'), 9n), { to: addressOf('nobody'), value: 9n });
    expect(await told()).toEqual([]);
  });
});

describe('verified', () => {
  test('is not what a log says and no balance shows', async () => {
    const { told } = await watch();
    await chain.block(chain.transfer(alice, 9n, lying), chain.transfer(alice, 8n));
    const movements = await told();
    expect(movements.map(({ contract, amount, verified }) => ({ contract, amount, verified }))).toEqual([
      { contract: lying, amount: 9n, verified: false },
      { contract: chain.token, amount: 8n, verified: true },
    ]);
  });

  const large = 10_000n * 10n ** 6n;

  test('is a large sum that the receipts of its block prove', async () => {
    const { proxy, told } = await watch({ proxy: { offersBlockReceipts: true } });
    const before = proxy.answers().get('eth_getBlockReceipts') ?? 0;
    await chain.block(chain.transfer(addressOf('nobody'), 1n), chain.transfer(alice, large), { to: bob, value: 1n });
    await chain.block(chain.transfer(alice, large - 1n));
    const movements = await told();
    expect(movements.map(({ verified }) => verified)).toEqual([true, true, true]);
    // The second amount is too small to require a proof.
    expect(proxy.answers().get('eth_getBlockReceipts')! - before).toBe(1);
  });

  test('is not a large sum that they do not prove, until they do', async () => {
    const { proxy, follower, told } = await watch({
      proxy: { offersBlockReceipts: true, faults: { alteredReceipts: 1 } },
    });
    await chain.block(chain.transfer(alice, large));
    const [movement] = await told();
    expect(movement).toMatchObject({ amount: large, verified: false });
    proxy.set({});
    const block = await follower.driver.reread(await chain.head(), follower.host, AbortSignal.timeout(10_000));
    expect(block!.movements).toEqual([{ ...movement, verified: true }]);
  });

  test('is by receipts where the node has forgotten the states of blocks', async () => {
    const forgetful: Upstream = async (method, params) =>
      method === 'eth_call' && typeof params[1] === 'object'
        ? { error: { code: -32000, message: 'missing trie node' } }
        : chain.upstream(method, params);
    const { told, proxy } = await watch({ upstream: forgetful });
    await chain.block(chain.transfer(alice, 7n));
    expect((await told()).map(({ amount, verified }) => [amount, verified])).toEqual([[7n, true]]);
    expect(proxy.answers().get('eth_getTransactionReceipt')).toBeGreaterThan(0);
  });

  test('a block that no node has any more is not read again', async () => {
    const { follower } = await watch();
    const next = (await chain.head()) + 1;
    expect(await follower.driver.reread(next, follower.host, AbortSignal.timeout(10_000))).toBeNull();
  });
});

test('a token with other decimals than listed, or none, is told of by its contract', async () => {
  const { abi, creationCode } = tokenArtefact as { abi: Abi; creationCode: Hex };
  const args = ['Finer', 'FINE', 18];
  const finer = await deploy('TestToken', encodeDeployData({ abi, bytecode: creationCode, args }));
  const { follower } = await watch({ tokens: [chain.token, rejecting, finer] });
  const { unfitTokens } = follower.driver.health()!;
  expect([...unfitTokens.keys()]).toEqual([rejecting, finer]);
  expect(unfitTokens.get(finer)).toContain('has 18 decimals instead of 6');
});

test('a node that has no time for the question does not disable a token', async () => {
  let refusals = 0;
  const busy: Upstream = async (method, params) =>
    method === 'eth_call' && refusals++ < 2
      ? { error: { code: -32005, message: 'rate limit exceeded' } }
      : chain.upstream(method, params);
  const { follower } = await watch({ upstream: busy, tokens: [chain.token] });
  expect(refusals).toBeGreaterThan(2);
  expect(follower.driver.health()!.unfitTokens.size).toBe(0);
});
