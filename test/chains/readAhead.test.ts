import { describe, expect, test } from 'vitest';
import type { LoggedBlock } from '../../src/chains/evm/fetchBlocks.ts';
import { type Range, readAhead } from '../../src/chains/evm/readAhead.ts';
import type { WatchedBlock } from '../../src/core/chain.ts';

const hashOf = (number: number): string => `0x${number}`;
const blocksOf = ({ from, to }: Range): WatchedBlock[] =>
  Array.from({ length: to - from + 1 }, (_, at) => {
    const number = from + at;
    return {
      number,
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: number,
      movements: [],
      forwards: [],
    };
  });

type Asked = { readonly range: Range; answer(): void; fail(error: Error): void };

/** Reads blocks 1 to 10,000 in ranges of a hundred. The test releases each answer. */
const begin = () => {
  const asked: Asked[] = [];
  let inFlight = 0;
  const reading = readAhead({ number: 0, hash: hashOf(0) }, 10_000, {
    width: () => 100,
    fetch: range => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly LoggedBlock[]>();
      inFlight++;
      asked.push({
        range,
        answer: () => resolve(blocksOf(range) as unknown as LoggedBlock[]),
        fail: reject,
      });
      return promise.finally(() => inFlight--);
    },
    watch: async fetched => fetched as unknown as WatchedBlock[],
  });
  return { asked, reading, inFlight: () => inFlight };
};

/** Waits until nothing more happens by itself. */
const settle = () => new Promise(resolve => setImmediate(resolve));
const numbersOf = (blocks: readonly WatchedBlock[]): number[] => [blocks[0]!.number, blocks.at(-1)!.number];

describe('ranges read ahead', () => {
  test('are asked for four at a time, while those before wait to be taken, and no more than wait well', async () => {
    const { asked, reading, inFlight } = begin();
    const first = reading.next();
    for (let at = 0; at < asked.length; at++) {
      expect(inFlight()).toBeLessThanOrEqual(4);
      asked[at]!.answer();
      await settle();
    }
    // The first is taken already.
    expect(asked).toHaveLength(17);
    expect(numbersOf((await first).value!)).toEqual([1, 100]);
    expect(numbersOf((await reading.next()).value!), 'what was read meanwhile, together').toEqual([101, 600]);
    expect(asked.length).toBeGreaterThan(17);
    await reading.return(undefined);
  });

  test('come in the order of their blocks, whatever the order of the answers', async () => {
    const { asked, reading } = begin();
    const first = reading.next();
    for (const each of asked.slice(0, 4).toReversed()) each.answer();
    expect(numbersOf((await first).value!)[0]).toBe(1);
    expect(numbersOf((await reading.next()).value!)[0]).toBe(101);
    await reading.return(undefined);
  });

  test('are not asked for above one that failed, which is told after what lies below it', async () => {
    const { asked, reading } = begin();
    const first = reading.next();
    asked[1]!.fail(new Error('gone'));
    await settle();
    const before = asked.length;
    for (const at of [0, 2, 3]) asked[at]!.answer();
    await settle();
    expect(numbersOf((await first).value!)).toEqual([1, 100]);
    await expect(reading.next()).rejects.toThrow('gone');
    expect(asked).toHaveLength(before);
  });

  test('are no longer asked for by one who leaves', async () => {
    const { asked, reading } = begin();
    const first = reading.next();
    asked[0]!.answer();
    await first;
    await reading.return(undefined);
    const before = asked.length;
    for (const each of asked) each.answer();
    await settle();
    expect(asked).toHaveLength(before);
  });
});
