import { afterEach, describe, expect, test } from 'vitest';
import { createNode, type EvmNode } from '../../src/chains/evm/node.ts';
import { RpcFault } from '../../src/chains/evm/rpc.ts';
import { type FaultProxy, type Faults, startFaultProxy, type Upstream } from './faultProxy.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const asked = AbortSignal.timeout(60_000);
const echo: Upstream = async (method, params) =>
  method === 'refuse' ? { error: { code: -32000, message: 'no' } } : { result: params[0] };

/** A node with a clock that only the test moves. */
const start = async (faults: Faults = {}): Promise<{ proxy: FaultProxy; node: EvmNode; pass(ms: number): void }> => {
  const proxy = await startFaultProxy(echo, { seed: 'node', faults });
  ends.push(proxy.close);
  let nowMs = 1_000;
  const node = createNode(proxy.url, 3, { timeoutMs: 5_000 }, () => nowMs);
  return {
    proxy,
    node,
    pass(ms) {
      nowMs += ms;
    },
  };
};

const calls = (count: number) => Array.from({ length: count }, (_, at) => ({ method: 'echo', params: [at + 1] }));
const fault = new RpcFault('timeout', undefined, 'no answer');

/** The back-off time, found by waiting. */
const restMs = ({ node, pass }: Awaited<ReturnType<typeof start>>, stepMs = 250): number => {
  let waited = 0;
  while (node.isBackingOff()) {
    pass(stepMs);
    waited += stepMs;
  }
  return waited;
};

describe('rest', () => {
  test('grows with each fault in a row up to a minute, and begins anew after good behaviour', async () => {
    const scene = await start();
    expect(scene.node.isBackingOff()).toBe(false);
    const rests = Array.from({ length: 9 }, () => {
      scene.node.backOff(fault);
      return restMs(scene);
    });
    expect(rests).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    scene.node.markSuccess();
    scene.node.backOff(fault);
    expect(restMs(scene)).toBe(500);
  });

  test.each(['malformed', 'refused', 'status', 'unreachable'] as const)(
    'grows up to five seconds only where the node answers wrongly at once (%s)',
    async kind => {
      const scene = await start();
      const rests = Array.from({ length: 6 }, () => {
        scene.node.backOff(new RpcFault(kind, undefined, 'wrong'));
        return restMs(scene);
      });
      expect(rests).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    },
  );

  test('is as long as the node asks for, and never longer than a minute', async () => {
    const scene = await start();
    scene.node.backOff(new RpcFault('status', 429, 'slow down', 7_000));
    expect(restMs(scene)).toBe(7_000);
    scene.node.backOff(new RpcFault('status', 503, 'later', 3_600_000));
    expect(restMs(scene)).toBe(60_000);
  });

  test.each([429, -32005, -32029])(
    'is longer from the beginning where there were too many requests (%i)',
    async code => {
      const scene = await start();
      scene.node.backOff(new RpcFault(code === 429 ? 'status' : 'refused', code, 'too many'));
      expect(restMs(scene)).toBe(5_000);
    },
  );

  test('takes what a node said over the wire', async () => {
    const scene = await start({ limited: 1 });
    const refusal = await scene.node.call('echo', [1], asked).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ kind: 'status', code: 429, retryAfterMs: 1_000 });
    for (let at = 0; at < 2; at++) scene.node.backOff(refusal);
    expect(restMs(scene)).toBe(1_000);
  });
});

describe('many calls', () => {
  test('go in batches and come back in order', async () => {
    const { node, proxy } = await start();
    expect(await node.callMany(calls(50), asked)).toEqual(calls(50).map(({ params }) => params[0]));
    expect(proxy.answers().get('echo')).toBe(50);
  });

  test('have a fault each, or fail as one', async () => {
    const { node } = await start();
    const mixed = [...calls(1), { method: 'refuse', params: [] }, ...calls(1)];
    const [first, second, third] = await node.callEach(mixed, asked);
    expect([first, third]).toEqual([1, 1]);
    expect(second).toMatchObject({ name: 'RpcFault', kind: 'refused', code: -32000 });
    await expect(node.callMany(mixed, asked)).rejects.toMatchObject({ kind: 'refused', code: -32000 });
    expect(await node.callEach([{ method: 'refuse', params: [] }], asked)).toEqual([
      expect.objectContaining({ kind: 'refused' }),
    ]);
  });

  test('go one by one to a node that takes no batches, which is found out once', async () => {
    const { node, proxy } = await start({ noBatches: 1 });
    expect(await node.callMany(calls(5), asked)).toEqual([1, 2, 3, 4, 5]);
    expect(await node.callMany(calls(5), asked)).toEqual([1, 2, 3, 4, 5]);
    expect(proxy.counts().get('noBatches')).toBe(5);
    expect(proxy.answers().get('echo')).toBe(15);
  });

  test.each(['serverError', 'limited', 'cutConnection', 'malformed'] as const)(
    'fail where the whole exchange does (%s), and are not repeated one by one',
    async kind => {
      const { node, proxy } = await start({ [kind]: 1 });
      await expect(node.callMany(calls(45), asked)).rejects.toBeInstanceOf(RpcFault);
      expect(proxy.answers().get('echo')).toBe(45);
      proxy.set({ noBatches: 0 });
      expect(await node.callMany(calls(2), asked)).toEqual([1, 2]);
    },
  );

  test('end with the reason of the caller', async () => {
    const { node } = await start({ silence: 1 });
    const ending = new AbortController();
    const waiting = node.callMany(calls(5), ending.signal);
    ending.abort(new Error('shutting down'));
    await expect(waiting).rejects.toThrow('shutting down');
  });
});
