import { describe, expect, test } from 'vitest';
import { readHeader } from '../../src/chains/evm/block.ts';
import { hasHash } from '../../src/chains/evm/headerHash.ts';
import headers from './fixtures/headers.json' with { type: 'json' };
import { startTestChain } from './followScene.ts';
import { blockHashOf } from './forkOf.ts';

type Fields = Readonly<Record<string, string>>;
const fixtures = headers as unknown as readonly { network: string; fork: string; header: Fields }[];

/** Fields that nodes add and that are not part of the header. */
const notHashed = new Set(
  'hash size totalDifficulty blockExtraData l1BlockNumber sendCount sendRoot milliTimestamp'.split(' '),
);

/** The same field with another last digit. */
const altered = (value: string): string => value.slice(0, -1) + (value.endsWith('1') ? '2' : '1');

describe.each(fixtures)('a real header of $network ($fork)', ({ network, header }) => {
  test('has the hash of its block', () => {
    expect(hasHash(header, header.hash!)).toBe(true);
    expect(readHeader(header)).toMatchObject({ isHashed: true, hash: header.hash });
  });

  test('does not have it with any field changed or missing', () => {
    // Nodes of Polygon may show another miner than the header has.
    const fields = Object.keys(header).filter(
      name => !notHashed.has(name) && !(network === 'polygon' && name === 'miner'),
    );
    expect(fields.length).toBeGreaterThanOrEqual(14);
    for (const name of fields) {
      const { [name]: value, ...others } = header;
      expect([name, hasHash({ ...header, [name]: altered(value!) }, header.hash!)]).toEqual([name, false]);
      // Zero is encoded like a field that is missing before others.
      if (value === '0x0' && name !== 'difficulty') continue;
      expect([name, hasHash(others, header.hash!)]).toEqual([name, false]);
      expect([name, hasHash({ ...header, [name]: null }, header.hash!)]).toEqual([name, false]);
    }
  });
});

test('a header has the same hash with zeros in front of its numbers and in capitals', () => {
  const { header } = fixtures.find(({ network }) => network === 'ethereum')!;
  const padded = {
    ...header,
    number: header.number!.replace('0x', '0x000'),
    miner: header.miner!.toUpperCase().replace('0X', '0x'),
  };
  expect(hasHash(padded, header.hash!)).toBe(true);
});

test.each(['0xzz', '', 'abc', '0x123', 5, {}, []])('a field that is %j does not make a header', value => {
  const { header } = fixtures[0]!;
  expect(hasHash({ ...header, stateRoot: value }, header.hash!)).toBe(false);
  expect(hasHash({ ...header, baseFeePerGas: value }, header.hash!)).toBe(false);
});

test('headers of the local chain have the hashes of their blocks', async () => {
  const chain = await startTestChain();
  await chain.block(chain.mint('0x00000000000000000000000000000000000000aa', 5n));
  for (let number = 0; number <= (await chain.head()); number++) {
    const block = (await chain.blockAt(number)) as unknown as Parameters<typeof blockHashOf>[0];
    expect(readHeader(block).isHashed).toBe(true);
    expect(blockHashOf(block)).toBe(block.hash);
  }
});
