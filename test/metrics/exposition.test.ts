import { expect, test } from 'vitest';
import { createCounters, createHistogram } from '../../src/metrics/counters.ts';
import { type Family, writeExposition } from '../../src/metrics/exposition.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { parseExposition } from './parseExposition.ts';

const requestLine = { environment: 'sandbox', method: 'GET', route: null, status: 404, durationMs: 1 };

test('labels and help are escaped so that a reader gets them back', () => {
  const path = 'a"b\\c\nd';
  const family: Family = { name: 'a', type: 'gauge', help: 'one\nline \\', samples: [{ labels: { path }, value: 1 }] };
  const text = writeExposition([family]);
  expect(text).toBe('# HELP a one\\nline \\\\\n# TYPE a gauge\na{path="a\\"b\\\\c\\nd"} 1\n');
  expect(parseExposition(text)[0]!.samples[0]!.labels).toEqual({ path });
});

test('values that are no ordinary numbers have the names that Prometheus knows', () => {
  const samples = [Infinity, -Infinity, Number.NaN, 1e-9, 1e21].map((value, place) => ({
    labels: { place: String(place) },
    value,
  }));
  const text = writeExposition([{ name: 'a', type: 'gauge', help: 'x', samples }]);
  expect(text.match(/(?<=\} ).+/g)).toEqual(['+Inf', '-Inf', 'NaN', '1e-9', '1e+21']);
  expect(parseExposition(text)[0]!.samples.map(({ value }) => value)).toEqual(samples.map(({ value }) => value));
});

test('a family whose value is not known is left out', () => {
  expect(writeExposition([{ name: 'a', type: 'gauge', help: 'x', samples: [] }])).toBe('');
});

test('an observation counts in its bucket and all above; the upper end belongs to the bucket', () => {
  const histogram = createHistogram([1, 2, 5]);
  for (const value of [0.5, 1, 1.5, 5, 6]) histogram.observe(value);
  const samples = histogram.samples().map(({ suffix, labels, value }) => [suffix, labels.le, value]);
  expect(samples).toEqual([
    ['_bucket', '1', 2],
    ['_bucket', '2', 3],
    ['_bucket', '5', 4],
    ['_bucket', '+Inf', 5],
    ['_sum', undefined, 14],
    ['_count', undefined, 5],
  ]);
});

test('counters are apart by their labels, and one that was started shows zero', () => {
  const counters = createCounters();
  counters.start('a', { of: 'a' });
  counters.add('b', { of: 'b' });
  counters.add('b', { of: 'b' });
  counters.start('b', { of: 'b' });
  expect(counters.samples().map(({ labels, value }) => [labels.of, value])).toEqual([
    ['a', 0],
    ['b', 2],
  ]);
});

test('requests without a route share one series, whatever their method', () => {
  const metrics = createMetrics();
  const { access } = metrics.watch({ log: undefined as never, access: () => {} });
  for (const method of ['GET', 'PROPFIND', 'X-OWN']) access({ ...requestLine, method });
  const requests = metrics.families().find(({ name }) => name === 'florin_http_request_duration_seconds')!;
  const counts = requests.samples.filter(({ suffix }) => suffix === '_count');
  expect(counts).toEqual([
    {
      suffix: '_count',
      labels: { environment: 'sandbox', method: 'other', route: 'unmatched', status: '4xx' },
      value: 3,
    },
  ]);
});

test.each([
  ['a line that does not end', 'a 1'],
  ['a sample above its family', 'a 1\n# HELP a x\n# TYPE a gauge\n'],
  ['a label twice', '# HELP a x\n# TYPE a gauge\na{b="1",b="2"} 1\n'],
  ['a series twice', '# HELP a x\n# TYPE a gauge\na{b="1"} 1\na{b="1"} 2\n'],
  ['a counter without _total', '# HELP a x\n# TYPE a counter\na 1\n'],
  [
    'a bucket that shrinks',
    '# HELP a x\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
  ],
  ['a family twice', '# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n# TYPE a gauge\na{b="1"} 1\n'],
])('the reader of these tests refuses %s', (_, text) => {
  expect(() => parseExposition(text)).toThrow();
});
