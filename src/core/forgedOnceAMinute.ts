import type { Log } from './log.ts';

const minuteMs = 60_000;
/** Records that are told apart. What is forged beyond these is counted together. */
const maxRecords = 1_000;

/**
 * Writes an error about a record that Florin did not write, which has the field `forged`, at most once a minute: a record
 * that is read often would flood the log. `leftOut` counts the lines about it since the one before. With too many records
 * at a time, those that are new share one line a minute; `leftOutOfOthers` counts lines that were not written for this.
 */
export const forgedOnceAMinute = (log: Log, nowMs: () => number): Log => {
  const told = new Map<string, { atMs: number; leftOut: number }>();
  let others = 0;
  const makeRoom = (beforeMs: number): void => {
    if (told.size < maxRecords) return;
    // In the order in which they were written.
    for (const [record, { atMs, leftOut }] of told) {
      if (atMs > beforeMs) return;
      told.delete(record);
      others += leftOut;
    }
  };
  const tell = (fields: object, message: string): void => {
    const now = nowMs();
    makeRoom(now - minuteMs);
    const named = `${message} ${JSON.stringify(fields)}`;
    const record = told.has(named) || told.size < maxRecords ? named : '';
    const last = told.get(record);
    if (last !== undefined && last.atMs > now - minuteMs) {
      if (record === '') others += 1;
      else last.leftOut += 1;
      return;
    }
    told.delete(record);
    told.set(record, { atMs: now, leftOut: 0 });
    const leftOut = last?.leftOut ?? 0;
    const counts = { ...(leftOut > 0 && { leftOut }), ...(others > 0 && { leftOutOfOthers: others }) };
    others = 0;
    log.error({ ...fields, ...counts }, message);
  };
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => ('forged' in fields ? tell(fields, message) : log.error(fields, message)),
  };
};
