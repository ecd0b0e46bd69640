import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptResult, AttemptVerdict } from '../../core/delivery.ts';
import { judgeEndpoint } from '../../core/endpointFailures.ts';
import { type Database, isRowFault, type Queryable } from '../../storage/database.ts';
import type { ClaimedDelivery, Target } from '../../storage/webhooks/deliveries.ts';
import { type AttemptRecord, recordAttempts, writeEndpointFailures } from '../../storage/webhooks/deliveryAttempts.ts';
import { createBatcher } from '../batch.ts';
import type { Context } from '../context.ts';

export type Attempt = {
  readonly delivery: ClaimedDelivery;
  readonly atMs: number;
  readonly signature: string;
  readonly outcome: AttemptResult & { readonly durationMs: number; readonly responseBody: Buffer };
  readonly verdict: AttemptVerdict;
};

const batchSize = 500;
const gatherMs = 10;
const [retryMs, maxRetryMs] = [500, 45_000];

const recordOf = ({ delivery, atMs, signature, outcome, verdict }: Attempt): AttemptRecord => ({
  accountId: delivery.accountId,
  environment: delivery.environment,
  deliveryId: delivery.id,
  claim: delivery.claim,
  atMs,
  url: delivery.url,
  signature,
  statusCode: outcome.statusCode,
  error: outcome.error,
  durationMs: outcome.durationMs,
  response: outcome.responseBody,
  status: verdict.kind === 'retry' ? 'scheduled' : verdict.kind,
  delayMs: verdict.kind === 'retry' ? verdict.delayMs : null,
  parkedReason: verdict.kind === 'parked' ? verdict.reason : null,
  gone: verdict.kind === 'parked' && verdict.gone,
});

/**
 * Records attempts, and what follows from them for their endpoints. Returns the endpoints that were disabled. A 410 comes
 * once, so it is recorded in one transaction with its consequence. Everything else is heard again with the next attempt,
 * and need not wait for a transaction.
 */
export const writeAttempts = (
  db: Database,
  records: readonly AttemptRecord[],
): Promise<readonly (Target & { readonly reason: string })[]> => {
  const write = async (tx: Queryable) => {
    const judged = (await recordAttempts(tx, records)).flatMap(heard => {
      const verdict = judgeEndpoint(heard, heard, heard.now);
      return verdict === null ? [] : [{ heard, verdict }];
    });
    return judged.length === 0 ? [] : writeEndpointFailures(tx, judged);
  };
  return records.some(({ gone }) => gone) ? db.transaction(write) : write(db);
};

export type AttemptRecorder = {
  /** Resolves when the attempt is written or given up. */
  add(attempt: Attempt): Promise<void>;
  /** Number of attempts not written yet. */
  pending(): number;
  /** Resolves when all attempts are written or given up. From now on, attempts are given up after `withinMs`. */
  settled(withinMs: number): Promise<void>;
};

/**
 * Records attempts, many in one statement. If the database is away, it retries for as long as the claim lasts. Attempts
 * that are not recorded by then are sent again.
 */
export const createAttemptRecorder = ({ db, log }: Pick<Context, 'db' | 'log'>): AttemptRecorder => {
  /** Finds a row that the database refuses by halving, so that the others are written. */
  const writeHalving = async (records: readonly AttemptRecord[], refused: Map<AttemptRecord, Error>): Promise<void> => {
    try {
      for (const { target, reason } of await writeAttempts(db, records)) {
        log.warn({ endpointId: target, reason }, 'a webhook endpoint was disabled');
      }
    } catch (error) {
      if (!isRowFault(error)) throw error;
      if (records.length === 1) {
        refused.set(records[0]!, error as Error);
        return;
      }
      const middle = Math.ceil(records.length / 2);
      await writeHalving(records.slice(0, middle), refused);
      await writeHalving(records.slice(middle), refused);
    }
  };
  const write = createBatcher<AttemptRecord, null>({
    maxItems: batchSize,
    maxWaiting: Number.POSITIVE_INFINITY,
    overloaded: () => new Error('never'),
    gatherMs,
    run: async records => {
      const refused = new Map<AttemptRecord, Error>();
      for (const part of withoutRepeats(records)) await writeHalving(part, refused);
      return records.map(record => refused.get(record) ?? null);
    },
  });
  let endMs = Number.POSITIVE_INFINITY;
  const persist = async (record: AttemptRecord): Promise<void> => {
    const sinceMs = performance.now();
    for (;;) {
      try {
        await write(record);
        return;
      } catch (error) {
        if (performance.now() > Math.min(sinceMs + maxRetryMs, endMs) || isRowFault(error)) {
          log.error({ deliveryId: record.deliveryId, err: error }, 'an attempt could not be written down');
          return;
        }
        await pause(retryMs);
      }
    }
  };
  const pending = new Set<Promise<void>>();
  return {
    add(attempt) {
      const written = persist(recordOf(attempt));
      pending.add(written);
      void written.then(() => pending.delete(written));
      return written;
    },
    pending: () => pending.size,
    async settled(withinMs) {
      endMs = performance.now() + withinMs;
      await Promise.all(pending);
    },
  };
};

/** A statement can change a row only once, so a second attempt of the same delivery goes into the next statement. */
const withoutRepeats = (records: readonly AttemptRecord[]): AttemptRecord[][] => {
  const parts: Map<string, AttemptRecord>[] = [];
  for (const record of records) {
    const part = parts.find(each => !each.has(record.deliveryId));
    if (part) part.set(record.deliveryId, record);
    else parts.push(new Map([[record.deliveryId, record]]));
  }
  return parts.map(part => [...part.values()]);
};
