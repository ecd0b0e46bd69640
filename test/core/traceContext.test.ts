import { expect, test } from 'vitest';
import { keptTrace, parseTraceparent, traceparentOf } from '../../src/core/traceContext.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

test.each([
  ['version 00', `00-${traceId}-${parentId}-01`, true],
  ['not sampled', `00-${traceId}-${parentId}-00`, false],
  ['flags that are not known', `00-${traceId}-${parentId}-fe`, false],
  ['a later version', `01-${traceId}-${parentId}-01`, true],
  ['a later version with more', `cc-${traceId}-${parentId}-01-what-else`, true],
])('%s is taken', (_, header, sampled) => {
  expect(parseTraceparent(header)).toEqual({ traceId, sampled });
});

test.each([
  ['nothing', undefined],
  ['an empty header', ''],
  ['a list of two headers', [`00-${traceId}-${parentId}-01`, `00-${traceId}-${parentId}-01`]],
  ['two headers in one', `00-${traceId}-${parentId}-01, 00-${traceId}-${parentId}-01`],
  ['version ff', `ff-${traceId}-${parentId}-01`],
  ['more in version 00', `00-${traceId}-${parentId}-01-more`],
  ['more without a dash', `01-${traceId}-${parentId}-01more`],
  ['upper case', `00-${traceId.toUpperCase()}-${parentId}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${parentId}-01`],
  ['a parent of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['a trace that is too short', `00-${traceId.slice(1)}-${parentId}-01`],
  ['a trace that is too long', `00-${traceId}0-${parentId}-01`],
  ['other characters', `00-${traceId.slice(1)}g-${parentId}-01`],
  ['no flags', `00-${traceId}-${parentId}`],
  ['white space', ` 00-${traceId}-${parentId}-01`],
  ['a line break', `00-${traceId}-${parentId}-01\n`],
  ['something endless', `01-${traceId}-${parentId}-01-${'x'.repeat(500)}`],
])('%s is ignored', (_, header) => {
  expect(parseTraceparent(header)).toBeNull();
});

test.each([true, false])('a kept trace goes on with another parent (sampled: %s)', sampled => {
  const parent = '1122334455667788';
  const header = traceparentOf(keptTrace({ traceId, sampled }), parent);
  expect(header).toBe(`00-${traceId}-${parent}-0${sampled ? 1 : 0}`);
  expect(parseTraceparent(header)).toEqual({ traceId, sampled });
});

test.each([null, '', traceId, `${traceId}-02`, `${traceId}-01\r\nx: y`, `${traceId}-01\n`])(
  'without a well-formed trace there is no header: %j',
  kept => {
    expect(traceparentOf(kept, parentId)).toBeNull();
  },
);
