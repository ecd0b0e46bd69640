import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keccak256 } from 'viem';
import { beforeAll, expect, test } from 'vitest';
import { type Header, readHeader } from '../../src/chains/evm/block.ts';
import { provenLogs } from '../../src/chains/evm/blockReceipts.ts';
import { createNode } from '../../src/chains/evm/node.ts';
import { orderedTrieRoot } from '../../src/chains/evm/orderedTrie.ts';
import { accounts } from './evmNode.ts';
import { startFaultProxy } from './faultProxy.ts';
import { addressOf, startTestChain, type TestChain } from './followScene.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await startTestChain();
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
});

const asked = AbortSignal.timeout(60_000);

const nodeOf = async (faults = {}) => {
  const proxy = await startFaultProxy(chain.upstream, { seed: 'trie', offersBlockReceipts: true, faults });
  return { proxy, node: createNode(proxy.url, 0, { timeoutMs: 30_000 }, () => 0) };
};

/** Receipts with and without logs, success and type. */
const mixed = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    if (at % 7 === 3) return chain.transfer(addressOf(`poor ${at}`), 10n ** 60n);
    if (at % 3 === 1) return { to: addressOf(`coin ${at}`), value: BigInt(at + 1) };
    return chain.transfer(addressOf(`token ${at}`), BigInt(at + 1));
  });

test.each([0, 1, 2, 16, 17, 127, 128, 129, 140])(
  'the receipts of a real block with %i transactions have its root',
  async count => {
    await chain.block(...mixed(count));
    const block = await chain.blockAt('latest');
    expect(block.transactions).toHaveLength(count);
    const { proxy, node } = await nodeOf();
    const header = readHeader(block);
    const logs = await provenLogs(node, header, asked);
    const own = await chain.node.request<unknown[]>('eth_getLogs', { blockHash: block.hash });
    expect(logs).toHaveLength(own.length);
    proxy.close();
  },
);

test('receipts that lack a log, or that belong to another block, prove nothing', async () => {
  await chain.block(...mixed(20));
  const block = readHeader(await chain.blockAt('latest'));
  const altered = await nodeOf({ alteredReceipts: 1 });
  expect(await provenLogs(altered.node, block, asked)).toBeNull();
  altered.proxy.close();
  await chain.block(...mixed(21));
  const { proxy, node } = await nodeOf();
  const next = readHeader(await chain.blockAt('latest'));
  expect(await provenLogs(node, { ...block, hash: next.hash }, asked)).toBeNull();
  expect(await provenLogs(node, next, asked)).not.toBeNull();
  proxy.close();
});

/** A block as Polygon has it: its last receipt is of a state sync, which the root leaves out. */
const withStateSync = async () => {
  await chain.block(...mixed(5));
  const header = readHeader(await chain.blockAt('latest'));
  const { proxy, node } = await nodeOf();
  const receipts = (await node.call('eth_getBlockReceipts', [header.hash], asked)) as Record<string, unknown>[];
  proxy.close();
  const name = Buffer.concat([
    Buffer.from('matic-bor-receipt-'),
    Buffer.from(header.number.toString(16).padStart(16, '0'), 'hex'),
    Buffer.from(header.hash.slice(2), 'hex'),
  ]);
  const [first] = receipts.filter(({ logs }) => (logs as unknown[]).length > 0);
  const added = { ...first, transactionHash: keccak256(name), type: '0x0', gasUsed: '0x0', cumulativeGasUsed: '0x0' };
  return { header, receipts, added };
};

const provenBy = async (header: Header, receipts: readonly unknown[]) => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: receipts }));
    });
  });
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const node = createNode(`http://127.0.0.1:${port}`, 0, { timeoutMs: 30_000 }, () => 0);
  try {
    return await provenLogs(node, header, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

test("Polygon's receipt of a state sync is left out of the root, and its logs are not proven", async () => {
  const { header, receipts, added } = await withStateSync();
  const proven = await provenBy(header, receipts);
  expect(proven!.length).toBeGreaterThan(0);
  expect(await provenBy(header, [...receipts, added])).toEqual(proven);
  expect(await provenBy(header, [...receipts.slice(1), added])).toBeNull();
  expect(await provenBy(header, [...receipts, { ...added, transactionHash: header.hash }])).toBeNull();
});

test('a node without the method is told apart from one that is wrong', async () => {
  const proxy = await startFaultProxy(chain.upstream, { seed: 'trie' });
  const node = createNode(proxy.url, 0, {}, () => 0);
  expect(await provenLogs(node, readHeader(await chain.blockAt('latest')), asked)).toBeUndefined();
  proxy.close();
});

test('the order counts', () => {
  const items = Array.from({ length: 20 }, (_, at) => Buffer.from(`item ${at}`));
  const root = orderedTrieRoot(items);
  expect(orderedTrieRoot([...items])).toBe(root);
  expect(orderedTrieRoot(items.toReversed())).not.toBe(root);
  expect(orderedTrieRoot(items.slice(1))).not.toBe(root);
  // Without items it is the well-known root of the empty trie.
  expect(orderedTrieRoot([])).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421');
});
