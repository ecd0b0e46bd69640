import { once } from 'node:events';
import { createServer } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { createEvmDriver } from '../../src/chains/evm/evmDriver.ts';
import type { Log } from '../../src/core/log.ts';
import type { Slug } from '../../src/core/registry/backings.ts';
import { type Network, resolveNetworks } from '../../src/core/registry/networks.ts';
import { startWatchers } from '../../src/workers/watcher.ts';
import { startFaultProxy, type Upstream } from '../chains/faultProxy.ts';
import { addressOf, startTestChain } from '../chains/followScene.ts';
import { eventually } from '../support/until.ts';
import { type LogLine, type QuietScene, startQuietScene } from './quietScene.ts';

let quiet: QuietScene;
beforeAll(async () => {
  quiet = await startQuietScene();
});

const networkOf = (slug: Slug): Network =>
  resolveNetworks({ environment: 'sandbox', configured: {}, devChain: null }).find(each => each.slug === slug)!;

/** The watcher of one network. An answer may take longer than a test, so waiting for it would never end. */
const watch = (slug: Slug, rpcUrls: readonly string[]) => {
  const logged: LogLine[] = [];
  const note: Log['error'] = (fields, message) => void logged.push({ fields: { ...fields }, message });
  const log: Log = { debug: note, info: note, warn: note, error: note };
  const network = networkOf(slug);
  const { caip2, chainId } = network;
  const driver = createEvmDriver({
    caip2,
    chainId,
    rpcUrls,
    tokens: [{ contract: addressOf('some token'), decimals: 6 }],
    blockTimeSeconds: 0.25,
    isQuiet: false,
    answerTimeoutMs: 3_600_000,
    log,
    nowMs: () => performance.now(),
  });
  const watchers = startWatchers({ ...quiet.context, log }, [{ caip2, networks: [network], driver }], 'test');
  return {
    stop: () => watchers.stop(),
    complaints: () => logged.filter(({ message }) => message === 'a node gave no usable answer'),
    failures: () => logged.filter(({ message }) => message === 'the watcher of a chain failed'),
    async status() {
      const text = `select status from network_status where caip2 = '${caip2}'`;
      return (await quiet.read<{ status: string }>(text))[0]?.status ?? null;
    },
    async holder() {
      const text = `select lease_holder as holder from chains where caip2 = '${caip2}'`;
      return (await quiet.read<{ holder: string | null }>(text))[0]?.holder;
    },
  };
};

/** It stops and releases the lease. */
const expectStop = async ({ stop, failures, holder }: ReturnType<typeof watch>): Promise<void> => {
  expect(await holder()).toBe('test');
  await stop();
  expect(failures()).toEqual([]);
  expect(await holder()).toBeNull();
};

test('a watcher whose nodes cannot be reached stops', async () => {
  // A port that was used and is closed again.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  const watching = watch('base', [`http://127.0.0.1:${port}/a`, `http://127.0.0.1:${port}/b`]);
  await eventually(() => expect(watching.complaints().length).toBeGreaterThanOrEqual(2));
  await expectStop(watching);
});

test('a watcher that is stopped before it was given its chain stops', async () => {
  const watching = watch('bsc', ['http://127.0.0.1:9/']);
  await watching.stop();
  expect(await watching.holder()).toBeNull();
});

const startChain = (slug: Slug) => startTestChain({ chainId: networkOf(slug).chainId });

test('a watcher whose nodes never answer does not wait for them', async () => {
  const { upstream } = await startChain('optimism');
  const faults = { silence: 1 };
  const proxies = [
    await startFaultProxy(upstream, { seed: 'stop', faults }),
    await startFaultProxy(upstream, { seed: 'stop', faults }),
  ];
  const watching = watch(
    'optimism',
    proxies.map(({ url }) => url),
  );
  try {
    await eventually(() => expect(proxies.every(proxy => proxy.faulty() > 0)).toBe(true));
    await expectStop(watching);
  } finally {
    for (const proxy of proxies) proxy.close();
  }
});

test.each([
  ['arbitrum', 'eth_getLogs', 2],
  ['polygon', 'eth_call', 1],
  ['avalanche', 'eth_getBlockByNumber', 50],
] as const)('on %s, a node that falls silent at %s holds up nothing', async (slug, method, times) => {
  const chain = await startChain(slug);
  await chain.mine(150);
  let asked = 0;
  const falling: Upstream = (each, params) =>
    each === method && ++asked >= times ? new Promise(() => {}) : chain.upstream(each, params);
  const proxy = await startFaultProxy(falling, { seed: 'stop' });
  const watching = watch(slug, [proxy.url]);
  try {
    await eventually(async () => {
      await chain.mine(1);
      expect(asked).toBeGreaterThanOrEqual(times);
    });
    await expectStop(watching);
  } finally {
    proxy.close();
  }
});

test('nobody is told that a chain is watched before its first block is read: what came before is never looked at', {
  tags: ['thorough'],
}, async () => {
  const chain = await startChain('ethereum');
  await chain.mine(30);
  let isWithheld = true;
  let asked = 0;
  const withholding: Upstream = async (method, params) => {
    if (method !== 'eth_getLogs' || !isWithheld) return chain.upstream(method, params);
    asked++;
    return { error: { code: -32000, message: 'not now' } };
  };
  const proxy = await startFaultProxy(withholding, { seed: 'first' });
  const watching = watch('ethereum', [proxy.url]);
  try {
    // The pauses between them are longer than two heartbeats.
    await eventually(() => expect(asked).toBeGreaterThanOrEqual(4));
    expect(await watching.status()).toBeNull();
    isWithheld = false;
    await eventually(async () => expect(await watching.status()).not.toBeNull());
  } finally {
    await watching.stop();
    proxy.close();
  }
});
