import type { Caller } from '../storage/accounts.ts';
import type { Database } from '../storage/database.ts';
import { type KeyUse, recordKeyUses } from '../storage/keyUses.ts';

/** When keys were last used, gathered here and written down now and then: a request must not cost a write. */
export type KeyUses = {
  note(caller: Caller): void;
  /** Writes down what was noted since the last time. What could not be written is kept for the next. */
  flush(): Promise<void>;
};

const maximumKeys = 20_000;

export const createKeyUses = (db: Database, nowMs: () => number): KeyUses => {
  let noted = new Map<string, KeyUse>();
  return {
    note({ keyId, accountId, environment }) {
      const known = noted.get(keyId);
      if (known) known.usedAtMs = nowMs();
      else if (noted.size < maximumKeys) noted.set(keyId, { accountId, environment, keyId, usedAtMs: nowMs() });
    },
    async flush() {
      const taken = noted;
      noted = new Map();
      try {
        await recordKeyUses(db, [...taken.values()]);
      } catch (error) {
        for (const [keyId, use] of taken) if (!noted.has(keyId)) noted.set(keyId, use);
        throw error;
      }
    },
  };
};
