import { expect, test } from 'vitest';
import { createProcessMetrics } from '../../src/metrics/processMetrics.ts';
import { until } from '../support/until.ts';

test('however long the process stands still, that is one measurement of the event loop', async () => {
  let nowMs = 0;
  const metrics = createProcessMetrics(() => nowMs);
  const read = () => {
    const { samples } = metrics.families().find(({ name }) => name === 'florin_event_loop_delay_seconds')!;
    const of = (suffix: string, le?: string) =>
      samples.find(each => each.suffix === suffix && (le === undefined || each.labels.le === le))!.value;
    return { all: of('_count'), short: of('_bucket', '2.5'), sum: of('_sum') };
  };
  await until(
    async () => read().all,
    count => count > 0,
  );
  nowMs = 10_000;
  const { all } = read();
  const { short, sum } = await until(
    async () => read(),
    now => now.all > all + 2,
  );
  expect(read().all - short).toBe(1);
  expect(sum).toBeCloseTo(9.9, 6);
  metrics.stop();
});
