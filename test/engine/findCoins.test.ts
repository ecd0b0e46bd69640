import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block, WatchedBlock } from '../../src/core/chain.ts';
import { type CoinBalances, findCoins } from '../../src/engine/chain/findCoins.ts';
import type { CoinPayment } from '../../src/storage/chain/coins.ts';
import { rounds } from '../support/rounds.ts';

const head = 200;
const address = '0x00000000000000000000000000000000000000A1';
const blockAt = (number: number): Block => ({
  number,
  hash: `0x${number}`,
  parentHash: `0x${number - 1}`,
  timestamp: number,
});

/** Sums by height: sent by a contract, sent by transactions, and forwarded. */
type Story = {
  readonly unseen: ReadonlyMap<number, bigint>;
  readonly recorded: CoinPayment['changes'];
};

const heights = fc.integer({ min: head - 110, max: head });
const amounts = fc.bigInt({ min: 1n, max: 10n ** 20n });
const stories: fc.Arbitrary<Story> = fc
  .record({
    unseen: fc.uniqueArray(fc.tuple(heights, amounts), { maxLength: 6, selector: ([height]) => height }),
    seen: fc.array(fc.tuple(heights, amounts), { maxLength: 4 }),
    swept: fc.boolean(),
  })
  .map(({ unseen, seen, swept }) => {
    const arrivals = [...unseen, ...seen].toSorted(([a], [b]) => a - b);
    const [first] = arrivals;
    // Forwarded in the same block in which it arrived, so no later balance shows it.
    const forwards =
      swept && first ? [{ blockNumber: first[0], amount: (-first[1]).toString(), source: 'forward' as const }] : [];
    const recorded = seen.map(([blockNumber, amount]) => ({
      ...{ blockNumber, amount: amount.toString() },
      source: 'transaction' as const,
    }));
    return { unseen: new Map(unseen), recorded: [...recorded, ...forwards] };
  });

const balanceAt = ({ unseen, recorded }: Story, number: number): bigint => {
  let balance = 0n;
  for (const [height, amount] of unseen) if (height <= number) balance += amount;
  for (const { blockNumber, amount } of recorded) if (blockNumber <= number) balance += BigInt(amount);
  return balance;
};

const paid: CoinPayment = {
  accountId: 'a',
  environment: 'sandbox',
  id: 'p',
  address,
  walletKind: 'forwarder',
  createdAt: new Date(0),
  baseline: 'empty',
  laterBaseline: null,
  headNumber: null,
  changes: [],
  forwards: [],
  isForged: false,
};

/** What transactions brought up to a height, and what was found there. */
const receivedUpTo = ({ recorded }: Story, found: readonly WatchedBlock[], height: number): bigint =>
  [
    ...recorded.filter(({ source }) => source === 'transaction'),
    ...found.map(({ number, movements }) => ({ blockNumber: number, amount: movements[0]!.amount })),
  ].reduce((sum, { blockNumber, amount }) => (blockNumber <= height ? sum + BigInt(amount) : sum), 0n);

/** Nodes that all report the same balances. */
const everybody = (balances: CoinBalances) => ({ balances, olderBalances: balances });

/** What is found in each block, if states below `oldest` are gone and the chain is read from `kept` on. */
const find = async (story: Story, oldest = 0, kept = 0): Promise<Map<number, bigint>> => {
  const payment = { ...paid, changes: story.recorded };
  const search = await findCoins([payment], blockAt(head), {
    from: async () => kept,
    blockAt: async number => (number >= kept ? blockAt(number) : null),
    ...everybody(async ({ number }, holders) => {
      if (number < oldest) return null;
      return new Map(holders.map(holder => [holder, balanceAt(story, number)]));
    }),
  });
  if (search === null) throw new Error('the state of the head is gone');
  const { found, unsearched } = search;
  expect(unsearched).toEqual([]);
  for (const { movements, forwards, ...block } of found) {
    const [coin, ...others] = movements;
    expect(coin).toMatchObject({ to: address, contract: null, txHash: null, from: null, verified: true });
    const total = receivedUpTo(story, found, block.number);
    expect(coin!.key).toBe(`${block.hash}:delta:${address}:${coin!.amount}:${total}`);
    expect(block).toEqual(blockAt(block.number));
    expect([others, forwards]).toEqual([[], []]);
  }
  expect(new Set(found.map(({ hash }) => hash)).size, 'each block once').toBe(found.length);
  return new Map(found.map(({ number, movements }) => [number, movements[0]!.amount]));
};

const ascending = (entries: Iterable<[number, bigint]>) => [...entries].toSorted(([a], [b]) => a - b);

test('all that came by contracts is found, each in its own block', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async story => {
      expect(ascending(await find(story))).toEqual(ascending(story.unseen));
    }),
    { numRuns: rounds(50, 300) },
  );
});

test('where states are gone or blocks were never read, it is found later, never earlier, and all of it', async () => {
  await fc.assert(
    fc.asyncProperty(stories, heights, heights, async (story, oldest, kept) => {
      const found = await find(story, oldest, kept);
      const sum = (entries: Iterable<[number, bigint]>, upTo: number): bigint =>
        [...entries].reduce((total, [height, amount]) => (height <= upTo ? total + amount : total), 0n);
      for (let height = head - 110; height <= head; height++) {
        expect(sum(found, height)).toBeLessThanOrEqual(sum(story.unseen, height));
      }
      expect(sum(found, head)).toBe(sum(story.unseen, head));
    }),
    { numRuns: rounds(50, 300) },
  );
});

test('nobody open costs no question, and nothing more is nothing found', async () => {
  const unasked = (): never => {
    throw new Error('nobody is asked');
  };
  const options = { blockAt: unasked, balances: unasked, olderBalances: unasked, from: unasked };
  expect(await findCoins([], blockAt(head), options)).toEqual({ found: [], unsearched: [] });
  const recorded = [{ blockNumber: head - 1, amount: '7', source: 'transaction' as const }];
  expect(await find({ unseen: new Map(), recorded })).toEqual(new Map());
});

test('a node that says something else each time is not asked for ever', async () => {
  const [most, patience] = [10n ** 18n, 50_000];
  let questions = 0;
  const payment = paid;
  await findCoins([payment], blockAt(head), {
    from: async () => 0,
    blockAt: async number => blockAt(number),
    ...everybody(async ({ number }, holders) => {
      questions++;
      const said = number === head || questions > patience ? most : BigInt(questions);
      return new Map(holders.map(holder => [holder, said]));
    }),
  });
  expect(questions).toBeLessThan(5_000);
});

test('coin that was found late for want of states is not found again where it came, once they are there', async () => {
  const changes = [{ blockNumber: 170, amount: '7', source: 'balance' as const }];
  const { found } = (await findCoins([{ ...paid, changes }], blockAt(head), {
    from: async () => 0,
    blockAt: async number => blockAt(number),
    ...everybody(async ({ number }, holders) => {
      const held = number < 150 ? 0n : number < 180 ? 7n : 8n;
      return new Map(holders.map(holder => [holder, held]));
    }),
  }))!;
  expect(found.map(({ number, movements }) => [number, movements[0]!.amount])).toEqual([[180, 1n]]);
});

test.each([
  [160, [['found', 160]]],
  [137, [['unsearched', 200]]],
  [120, [['unsearched', 200]]],
])('if nodes have dropped the blocks below 138, coin of block %d is %j', async (height, expected) => {
  const { found, unsearched } = (await findCoins([paid], blockAt(head), {
    from: async () => 0,
    blockAt: async number => (number >= 138 ? blockAt(number) : null),
    ...everybody(async ({ number }, holders) => new Map(holders.map(holder => [holder, number >= height ? 7n : 0n]))),
  }))!;
  expect([
    ...found.map(({ number }) => ['found', number]),
    ...unsearched.map(({ payment }) => ['unsearched', payment === paid ? head : 0]),
  ]).toEqual(expected);
});

describe('at an address of an extended public key', () => {
  const createdAt = 150;
  const ofKey: CoinPayment = {
    ...paid,
    walletKind: 'xpub',
    createdAt: new Date((createdAt + 60) * 1000),
    baseline: 'known',
    headNumber: createdAt,
    changes: [{ blockNumber: 0, amount: '5', source: 'baseline' }],
  };
  /** What is found if the address holds so much from each height on. */
  const findHeld = async (payment: CoinPayment, held: readonly (readonly [from: number, balance: bigint])[]) => {
    const search = await findCoins([payment], blockAt(head), {
      from: async () => 0,
      blockAt: async number => blockAt(number),
      ...everybody(async ({ number }, holders) => {
        const balance = held.findLast(([from]) => from <= number)?.[1] ?? 0n;
        return new Map(holders.map(holder => [holder, balance]));
      }),
    });
    return search!.found.map(({ number, movements }) => [number, movements[0]!.amount]);
  };

  test.each([
    ['between its baseline and the payment', [[0, 5n], [145, 9n]], []],
    ['before and after', [[0, 5n], [145, 9n], [170, 10n]], [[170, 1n]]],
    ['before and in the first block since', [[0, 5n], [149, 9n], [150, 10n]], [[150, 1n]]],
    ['in the first block since', [[0, 5n], [150, 6n]], [[150, 1n]]],
  ] as const)('coin that came %s', async (_, held, found) => {
    expect(await findHeld(ofKey, held)).toEqual(found);
  }); // biome-ignore format: one line each

  test.each(['the block', 'the state'] as const)(
    'older coin is not credited if %s before the first one since cannot be read any more',
    async lacking => {
      let asked = 0;
      const search = await findCoins([ofKey], blockAt(head), {
        from: async () => 0,
        // The height is known while the payment is searched, and not when it is asked for again.
        blockAt: async number => (number === 149 && lacking === 'the block' && asked++ > 0 ? null : blockAt(number)),
        ...everybody(async ({ number }, holders) =>
          number === 149 && lacking === 'the state'
            ? null
            : new Map(holders.map(holder => [holder, number < 145 ? 5n : 9n])),
        ),
      });
      expect(search!.found).toEqual([]);
      expect(search!.unsearched.map(({ amount }) => amount)).toEqual([4n]);
    },
  );

  test('older coin that one of two nodes leaves out is not credited', async () => {
    const held =
      (sum: bigint): CoinBalances =>
      async (_, holders) =>
        new Map(holders.map(holder => [holder, sum]));
    const search = await findCoins([{ ...ofKey, changes: [] }], blockAt(head), {
      from: async () => 0,
      blockAt: async number => blockAt(number),
      balances: async (block, holders) => held(block.number < createdAt ? 0n : 4n)(block, holders),
      olderBalances: held(4n),
    });
    expect(search!.found).toEqual([]);
  });

  test('coin in a block that was mined after the creation counts, although its time is older', async () => {
    const held = [[0, 5n], [130, 6n]] as const; // biome-ignore format: one line
    expect(await findHeld({ ...ofKey, headNumber: 129 }, held)).toEqual([[130, 1n]]);
    expect(await findHeld({ ...ofKey, headNumber: 130 }, held)).toEqual([]);
  });
});

test('a young payment needs no old block', async () => {
  const asked: number[] = [];
  const young = { ...paid, createdAt: new Date((head + 60 - 10) * 1000) };
  const search = await findCoins([young], blockAt(head), {
    from: async () => 0,
    blockAt: async number => {
      asked.push(number);
      return blockAt(number);
    },
    ...everybody(async ({ number }, holders) => new Map(holders.map(holder => [holder, number >= 195 ? 7n : 0n]))),
  });
  expect(search!.found.map(({ number }) => number)).toEqual([195]);
  expect(Math.min(...asked)).toBe(head - 16);
});
