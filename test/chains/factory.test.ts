import { beforeAll, expect, test } from 'vitest';
import { findFactory } from '../../src/chains/evm/factory.ts';
import { createFactoryInspector } from '../../src/chains/evm/factoryInspector.ts';
import { forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { createNode } from '../../src/chains/evm/node.ts';
import { startRpcNode } from '../api/rpcNode.ts';

const chainId = 137;
const urls = { absent: '', different: '', present: '' };
beforeAll(async () => {
  urls.absent = (await startRpcNode(chainId, { factory: false })).url;
  const different = await startRpcNode(chainId, { factory: false });
  await different.node.request('hardhat_setCode', forwarderFactory, '0x6001');
  urls.different = different.url;
  urls.present = (await startRpcNode(chainId)).url;
});

const orders: readonly (readonly [readonly (keyof typeof urls)[], string])[] = [
  [['absent'], 'absent'],
  [['absent', 'different'], 'different_code'],
  [['different', 'absent'], 'different_code'],
  [['absent', 'different', 'present'], 'present'],
];
test.each(orders)('of %j the answer is %s', async (names, state) => {
  const asked = names.map(name => urls[name]);
  expect(await findFactory(asked, chainId)).toMatchObject({ found: { state }, reason: null });
  const nodes = asked.map((url, at) => createNode(url, at, { timeoutMs: 5_000 }, () => 0));
  const inspector = createFactoryInspector({ nodes, hasTags: true, nowMs: () => 0 });
  await inspector.inspect(nodes[0]!, new AbortController().signal);
  expect(inspector.state()).toBe(state);
});

test('without an answer it says why', async () => {
  expect(await findFactory([], chainId)).toEqual({ found: null, reason: 'No node is configured.' });
  expect(await findFactory([urls.present, urls.absent], 1)).toEqual({
    found: null,
    reason: 'The node serves chain 137.',
  });
});
