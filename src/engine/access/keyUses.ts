import type { Caller } from '../../storage/access/accounts.ts';
import { type KeyUse, recordKeyUses } from '../../storage/access/keyUses.ts';
import type { Database } from '../../storage/database.ts';

/** Collects the last use of API keys and writes it periodically: a request must not cost a write. */
export type KeyUses = {
  note(caller: Caller): void;
  /** Writes the uses since the last flush. Uses that cannot be written are kept for the next one. */
  flush(): Promise<void>;
};

const maxKeys = 20_000;

export const createKeyUses = (db: Database, nowMs: () => number): KeyUses => {
  let noted = new Map<string, KeyUse>();
  return {
    note({ keyId, accountId, environment }) {
      const existing = noted.get(keyId);
      if (existing) existing.usedAtMs = nowMs();
      else if (noted.size < maxKeys) noted.set(keyId, { accountId, environment, keyId, usedAtMs: nowMs() });
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
