/**
 * How far the upgrade of the database is, as this process knows. It only goes up: nobody takes back that an upgrade is
 * finished.
 */
export type ReleaseGate = {
  /** The newest migration that this process knows. */
  readonly knows: number;
  /**
   * Whether every process knows a migration. Until then, an older process may run or come back, so nothing may be written
   * that it would misread.
   */
  isFinished(migration: number): boolean;
  /** Whether the upgrade to a release that this process does not know is finished. */
  isOutdated(): boolean;
  /** Resolves once it is. */
  readonly outdated: Promise<void>;
  /** Called with the newest migration that every process must know. */
  note(finished: number): void;
};

export const createReleaseGate = (knows: number): ReleaseGate => {
  const { promise: outdated, resolve } = Promise.withResolvers<void>();
  let finished = 0;
  return {
    knows,
    isFinished: migration => finished >= migration,
    isOutdated: () => finished > knows,
    outdated,
    note(version) {
      finished = Math.max(finished, version);
      if (finished > knows) resolve();
    },
  };
};
