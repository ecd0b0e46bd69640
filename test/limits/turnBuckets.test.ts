import { expect, test } from 'vitest';
import { createLocalLimiter } from '../../src/limits/localLimiter.ts';
import { createSharedLimiter } from '../../src/limits/sharedLimiter.ts';
import { createTurnBuckets, decideAll, type Question, type TurnBuckets } from '../../src/limits/turnBuckets.ts';
import { atEndOfFile } from '../support/endOfFile.ts';

const rate = { perMinute: 60, burst: 10 };
const nowMs = () => 1_000;
/** So long that a busy machine does not look like a supervisor that is gone. */
const budgetMs = 20_000;

const shareWith = async (buckets: TurnBuckets, budget = budgetMs) => {
  const told: boolean[] = [];
  const first = Promise.withResolvers<void>();
  const limiter = createSharedLimiter({
    remote: buckets,
    local: createLocalLimiter(nowMs),
    nowMs,
    budgetMs: budget,
    countedAlone() {},
    tell(isShared) {
      told.push(isShared);
      if (isShared) first.resolve();
    },
  });
  atEndOfFile(limiter.close);
  await first.promise;
  return { limiter, told };
};

/** `mayAnswer` is asked for each message. */
const answeredBy = (limiter: ReturnType<typeof createLocalLimiter>, mayAnswer = () => true): TurnBuckets => {
  const buckets: TurnBuckets = createTurnBuckets(questions => {
    if (mayAnswer()) void decideAll(limiter, questions).then(decisions => buckets.settle(decisions));
  });
  return buckets;
};

test('what is asked in one turn is one message, and each question has its own decision', async () => {
  const messages: (readonly Question[])[] = [];
  const limiter = createLocalLimiter(nowMs);
  const buckets = createTurnBuckets(questions => {
    messages.push(questions);
    void decideAll(limiter, questions).then(decisions => buckets.settle(decisions));
  });
  const oracle = createLocalLimiter(nowMs);
  const subjects = Array.from({ length: 100 }, (_, at) => `account ${at % 3}`);
  const decisions = await Promise.all(subjects.map(subject => buckets.take(subject, rate)));
  expect(decisions).toEqual(subjects.map(subject => oracle.take(subject, rate)));
  expect(messages).toHaveLength(1);
  await buckets.take('another turn', rate);
  expect(messages).toHaveLength(2);
});

test('two processes that ask one limiter allow together what one does', async () => {
  const limiter = createLocalLimiter(nowMs);
  const pair = await Promise.all([0, 1].map(async () => (await shareWith(answeredBy(limiter))).limiter));
  const taken = await Promise.all(Array.from({ length: 200 }, (_, at) => pair[at % 2]!.take('account', rate)));
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(rate.perMinute + rate.burst);
});

test('who gets no answer counts alone, says so, and is not kept', async () => {
  let isThere = true;
  const buckets = answeredBy(createLocalLimiter(nowMs), () => isThere);
  const { limiter, told } = await shareWith(buckets, 1);
  isThere = false;
  for (let i = 0; i < 5; i++) expect(await limiter.take('account', rate)).toMatchObject({ allowed: true });
  expect(told).toEqual([true, false]);
});

test('a late answer, to what was given up, is no answer to anything else', async () => {
  let late: readonly Question[] = [];
  const buckets = createTurnBuckets(questions => {
    late = questions;
  });
  const first = buckets.take('account', rate);
  await new Promise(resolve => setImmediate(resolve));
  buckets.reconnect();
  buckets.settle(await decideAll(createLocalLimiter(nowMs), late));
  let isSettled = false;
  void first.then(() => {
    isSettled = true;
  });
  await new Promise(resolve => setImmediate(resolve));
  expect(isSettled).toBe(false);
});
