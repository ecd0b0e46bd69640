import { expect, test } from 'vitest';
import { createReadiness } from '../../src/http/edge/readiness.ts';

/** A question whose answers are given by hand, and a clock that stands still. */
const createScene = (answerTimeoutMs?: number) => {
  const questions: PromiseWithResolvers<void>[] = [];
  let nowMs = 0;
  const isReady = createReadiness(
    () => {
      const question = Promise.withResolvers<void>();
      questions.push(question);
      return question.promise;
    },
    () => nowMs,
    answerTimeoutMs,
  );
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { questions, isReady, pass };
};

test('many who ask at once cause one question, and its answer is kept for a second', async () => {
  const { questions, isReady, pass } = createScene();
  const waiting = Array.from({ length: 100 }, () => isReady());
  expect(questions).toHaveLength(1);
  questions[0]!.resolve();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]));
  pass(999);
  expect(await isReady()).toBe(true);
  expect(questions).toHaveLength(1);
  pass(1);
  const next = isReady();
  expect(questions).toHaveLength(2);
  questions[1]!.reject(new Error('gone'));
  expect(await next).toBe(false);
  expect(await isReady(), 'a failure is kept as well').toBe(false);
  expect(questions).toHaveLength(2);
});

test('a question that hangs is answered with no, and is not asked again meanwhile', async () => {
  const { questions, isReady, pass } = createScene(1);
  expect(await isReady()).toBe(false);
  pass(10_000);
  expect(await isReady()).toBe(false);
  expect(questions).toHaveLength(1);
  questions[0]!.resolve();
  expect(await isReady()).toBe(true);
});
