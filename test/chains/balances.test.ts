import { beforeAll, expect, test } from 'vitest';
import { readBalances } from '../../src/chains/evm/balances.ts';
import { createNode, type EvmNode } from '../../src/chains/evm/node.ts';
import { RpcFault } from '../../src/chains/evm/rpc.ts';
import { accounts } from './evmNode.ts';
import { type FaultProxy, startFaultProxy } from './faultProxy.ts';
import { addressOf, startTestChain, type TestChain } from './followScene.ts';

let chain: TestChain;
let proxy: FaultProxy;
let node: EvmNode;
beforeAll(async () => {
  chain = await startTestChain();
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
  proxy = await startFaultProxy(chain.upstream, { seed: 'balances' });
  node = createNode(proxy.url, 0, {}, () => 0);
});

const asked = AbortSignal.timeout(60_000);
const hashAt = async (number: number): Promise<string> => (await chain.blockAt(number)).hash;
const [alice, bob, nobody] = [addressOf('alice'), addressOf('bob'), addressOf('nobody')];

test('are those of the block that is named by its hash, of a token and of native coin', async () => {
  const start = await chain.head();
  await chain.block(chain.transfer(alice, 5n), { to: bob, value: 50n });
  await chain.block(chain.transfer(alice, 6n), chain.transfer(bob, 2n ** 30n), { to: bob, value: 60n });
  await chain.mine(3);
  const holders = [alice, bob, nobody];
  const at = async (number: number, token: string | null) => [
    ...(await readBalances(node, { token, holders, blockHash: await hashAt(number) }, asked)).values(),
  ];
  expect(await at(start, chain.token)).toEqual([0n, 0n, 0n]);
  expect(await at(start + 1, chain.token)).toEqual([5n, 0n, 0n]);
  expect(await at(start + 2, chain.token)).toEqual([11n, 2n ** 30n, 0n]);
  expect(await at(start + 5, chain.token)).toEqual([11n, 2n ** 30n, 0n]);
  expect(await at(start, null)).toEqual([0n, 0n, 0n]);
  expect(await at(start + 1, null)).toEqual([0n, 50n, 0n]);
  expect(await at(start + 2, null)).toEqual([0n, 110n, 0n]);
});

test('of more holders than one question takes', async () => {
  const holders = Array.from({ length: 1_203 }, (_, at) => addressOf(`holder ${at}`));
  const paid = [0, 1, 499, 500, 501, 999, 1_000, 1_202];
  await chain.block(...paid.map(at => chain.transfer(holders[at]!, BigInt(at + 1))));
  await chain.block(...paid.map(at => ({ to: holders[at]!, value: BigInt(at + 7) })));
  const blockHash = await hashAt(await chain.head());
  const before = proxy.answers().get('eth_call') ?? 0;
  const tokens = await readBalances(node, { token: chain.token, holders, blockHash }, asked);
  const coins = await readBalances(node, { token: null, holders, blockHash }, asked);
  expect(proxy.answers().get('eth_call')! - before).toBe(6);
  expect([...tokens.keys()]).toEqual(holders);
  holders.forEach((holder, at) => {
    expect(tokens.get(holder)).toBe(paid.includes(at) ? BigInt(at + 1) : 0n);
    expect(coins.get(holder)).toBe(paid.includes(at) ? BigInt(at + 7) : 0n);
  });
});

test('of nobody need no question', async () => {
  const before = proxy.answers().get('eth_call') ?? 0;
  const blockHash = await hashAt(1);
  expect((await readBalances(node, { token: null, holders: [], blockHash }, asked)).size).toBe(0);
  expect(proxy.answers().get('eth_call') ?? 0).toBe(before);
});

test('of a block that is not there, or a contract that has none, are refused', async () => {
  const gone = { token: null, holders: [alice], blockHash: `0x${'ab'.repeat(32)}` };
  await expect(readBalances(node, gone, asked)).rejects.toMatchObject({ kind: 'refused' });
  const blockHash = await hashAt(await chain.head());
  // This node returns the revert data of a failed call; others return an error.
  await expect(readBalances(node, { token: nobody, holders: [alice], blockHash }, asked)).rejects.toBeInstanceOf(
    RpcFault,
  );
});

test('that the node leaves out are no balances', async () => {
  const blockHash = await hashAt(await chain.head());
  const short = await startFaultProxy(async () => ({ result: `0x${'00'.repeat(32)}` }), { seed: 'short' });
  const other = createNode(short.url, 0, {}, () => 0);
  const question = { token: null, holders: [alice, bob], blockHash };
  await expect(readBalances(other, question, asked)).rejects.toMatchObject({ kind: 'malformed' });
  short.close();
});
