import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../core/errorCode.ts';
import { silentLog } from '../core/log.ts';
import { type Database, openDatabase } from '../storage/database.ts';
import { type Replay, readRecords, readReplay, readWritten, type Written } from '../storage/replay.ts';
import type { Told } from './doctorChecks.ts';

/** As long as an export waits. */
const [patienceMs, lookMs] = [2_000, 50];

const setting = 'FLORIN_READ_DATABASE_URL';
const unused = 'exports are read from DATABASE_URL';

/** Whether exports can be read from a server that was given this long to apply what was written. */
export const judgeReplay = (replay: Replay, primary: Pick<Written, 'system' | 'startedAt'>): Told => {
  const { isStandby, bytesBehind, system, startedAt } = replay;
  if (system !== primary.system) return { ok: false, detail: `${setting} is a server of another cluster: ${unused}` };
  if (!isStandby && startedAt === primary.startedAt) {
    return { ok: true, detail: `${setting} leads to the primary: there is nothing to take off it` };
  }
  if (!isStandby) return { ok: false, detail: `${setting} is no standby any more, and not the primary: ${unused}` };
  if (bytesBehind !== 0) {
    const behind = `${bytesBehind ?? 'unknown'} bytes behind after ${patienceMs / 1000} seconds`;
    return { ok: false, detail: `the standby for exports is ${behind}: ${unused}` };
  }
  return { ok: true, detail: 'the standby has everything' };
};

const untilApplied = async (server: Database, written: Written): Promise<Replay> => {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const replay = await readReplay(server, written);
    if (!replay.isStandby || replay.bytesBehind === 0 || performance.now() > untilMs) return replay;
    await pause(lookMs);
  }
};

/** Asks the server of FLORIN_READ_DATABASE_URL what an export asks. A fault there goes unnoticed otherwise. */
export const examineExports = async (url: string, primary: Database): Promise<Told> => {
  const written = await readWritten(primary);
  const options = { log: silentLog, maxConnections: 1, applicationName: 'florin doctor', needs: 'any' } as const;
  const server = openDatabase({ connectionString: url }, options);
  try {
    const told = judgeReplay(await untilApplied(server, written), written);
    if (told.ok) await readRecords(server);
    return told;
  } catch (error) {
    const why = codeOf(error) || 'no usable answer';
    return { ok: false, detail: `${setting} does not answer as it should (${why}): ${unused}` };
  } finally {
    await server.close();
  }
};
