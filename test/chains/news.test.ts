import { expect, test } from 'vitest';
import { createPollWait } from '../../src/chains/evm/pollWait.ts';

const pollMs = 5;

/** A wake source whose answers the test gives. */
const startSource = () => {
  const asked: { readonly head: string; readonly answer: PromiseWithResolvers<boolean> }[] = [];
  const wake = (head: string): Promise<boolean> => {
    const answer = Promise.withResolvers<boolean>();
    asked.push({ head, answer });
    return answer.promise;
  };
  const over = new AbortController();
  return {
    asked,
    over,
    wait: createPollWait(pollMs, wake, over.signal),
    slow: createPollWait(600_000, wake, over.signal),
  };
};

test('a head is asked about once, however often it is polled', async () => {
  const { asked, wait } = startSource();
  for (let polls = 0; polls < 5; polls++) await wait('a');
  expect(asked.map(({ head }) => head)).toEqual(['a']);
});

test('news end a long pause, once for a head', async () => {
  const { asked, over, slow } = startSource();
  const first = slow('a');
  asked[0]!.answer.resolve(true);
  await first;
  // The block could not be read: the same wake-up must not end the next wait too.
  let isOver = false;
  const second = slow('a').then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  over.abort();
  await second;
  expect(asked).toHaveLength(1);
});

test('the next head is asked about anew', async () => {
  const { asked, slow } = startSource();
  const first = slow('a');
  asked[0]!.answer.resolve(true);
  await first;
  const second = slow('b');
  asked[1]!.answer.resolve(true);
  await second;
  expect(asked.map(({ head }) => head)).toEqual(['a', 'b']);
});

test.each(['no news', 'a fault'])('%s: the pause goes on, and then it is asked again', async kind => {
  const { asked, wait } = startSource();
  const first = wait('a');
  if (kind === 'a fault') asked[0]!.answer.reject(new Error('gone'));
  else asked[0]!.answer.resolve(false);
  await first;
  await wait('a');
  expect(asked).toHaveLength(2);
});

test('without a source, and before the first block, there is the pause alone', async () => {
  await createPollWait(pollMs, undefined, new AbortController().signal)('a');
  const { asked, wait } = startSource();
  await wait(null);
  expect(asked).toEqual([]);
});

test('an end ends the pause', async () => {
  const { over, slow } = startSource();
  const waiting = slow('a');
  over.abort();
  await waiting;
});
