import { expect, test } from 'vitest';
import { forgedOnceAMinute } from '../../src/core/forgedOnceAMinute.ts';
import { silentLog } from '../../src/core/log.ts';

const message = 'a row does not match its seal and is not used';

const startLog = () => {
  const lines: object[] = [];
  let nowMs = 0;
  const log = forgedOnceAMinute({ ...silentLog, error: fields => lines.push(fields) }, () => nowMs);
  return {
    log,
    wait: (seconds: number) => {
      nowMs += seconds * 1_000;
    },
    read: (id: string, times = 1) => {
      for (let n = 0; n < times; n++) log.error({ forged: 'people', row: { id } }, message);
    },
    taken: () => lines.splice(0),
  };
};
const lineOf = (id: string) => ({ forged: 'people', row: { id } });

test('a record that does not match its seal is logged once a minute, with what was left out', () => {
  const { read, wait, taken } = startLog();
  read('one', 3);
  read('two');
  expect(taken()).toEqual([lineOf('one'), lineOf('two')]);
  wait(59);
  read('one', 2);
  expect(taken()).toEqual([]);
  wait(1);
  read('one', 2);
  read('two');
  expect(taken()).toEqual([{ ...lineOf('one'), leftOut: 4 }, lineOf('two')]);
  wait(60);
  read('one');
  expect(taken()).toEqual([{ ...lineOf('one'), leftOut: 1 }]);
});

test('many records at a time neither flood the log nor hide a later one', () => {
  const { read, wait, taken } = startLog();
  for (let n = 0; n < 5_000; n++) read(`${n}`);
  expect(taken()).toHaveLength(1_001);
  wait(30);
  read('later');
  read('0');
  expect(taken()).toEqual([]);
  wait(31);
  read('later');
  // 3,999 of the first 5,000, and the two after half a minute.
  expect(taken()).toEqual([{ ...lineOf('later'), leftOutOfOthers: 4_001 }]);
});

test('other errors are all logged', () => {
  const { log, taken } = startLog();
  for (let n = 0; n < 3; n++) log.error({ caip2: 'eip155:1' }, 'the chain halted');
  expect(taken()).toHaveLength(3);
});
