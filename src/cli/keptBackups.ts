import { beganAtOf } from './backupFolder.ts';

const hourMs = 3_600_000;
/** A schedule is a little late or early. What is nearer to the one after it than this share of the interval is an extra one. */
const leastDistance = 0.5;
/** Clocks of a machine and of its database differ. */
const clockDistanceMs = hourMs;

type Retention = { readonly hours: number; readonly keep: number };

/**
 * Which backups of a schedule stay, newest first. A backup that begins a new archive of the log is taken at once, so there
 * can be several within one interval: they must not push out those of other days. The newest of them counts, and the others
 * stay for one interval. One whose name is of the future was taken while the clock was wrong, so it goes first.
 */
export const keptBackups = (names: readonly string[], { hours, keep }: Retention, nowMs: number): string[] => {
  const dated = names.flatMap(name => {
    const beganMs = beganAtOf(name)?.getTime();
    return beganMs === undefined ? [] : [{ name, beganMs: beganMs > nowMs + clockDistanceMs ? 0 : beganMs }];
  });
  dated.sort((one, other) => other.beganMs - one.beganMs || (one.name < other.name ? 1 : -1));
  const kept: string[] = [];
  let [regular, extra, after] = [0, 0, Number.POSITIVE_INFINITY];
  for (const { name, beganMs } of dated) {
    if (after - beganMs >= hours * hourMs * leastDistance) {
      if (regular === keep) break;
      regular += 1;
      after = beganMs;
    } else {
      if (extra === keep || nowMs - beganMs >= hours * hourMs) continue;
      extra += 1;
    }
    kept.push(name);
  }
  return kept;
};
