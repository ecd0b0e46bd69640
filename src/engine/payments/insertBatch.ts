import { FlorinError } from '../../core/errors.ts';
import { isContention, isRowFault } from '../../storage/database.ts';
import { type InsertedPayment, insertPayments, type UnsealedPayment } from '../../storage/payments/insertPayments.ts';
import { createBatcher } from '../batch.ts';
import type { Context } from '../context.ts';
import { type SealedPayment, sealNewPayment } from './sealNewPayment.ts';

type InsertContext = Pick<Context, 'db' | 'vault' | 'keptHours' | 'meter'>;

/** Rows per batch. More would only delay the first of them. */
const maxRows = 128;
/** Requests that may wait for their row. */
const maxWaiting = 5_000;
const contentionTries = 5;

/** Batches of several processes lock keys in the same order, so that they wait instead of deadlocking. */
const lockOrder = (row: SealedPayment): string =>
  `${row.accountId} ${row.environment} ${row.idempotency?.key ?? ''} ${row.externalId ?? ''}`;

const inLockOrder = (rows: readonly SealedPayment[]): SealedPayment[] =>
  rows
    .map(row => ({ row, order: lockOrder(row) }))
    .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
    .map(({ row }) => row);

type Outcomes = Map<string, InsertedPayment | Error>;

/** Rows wait for their batch with their seals. A master key that was replaced meanwhile must leave nothing behind. */
const withCurrentKey = ({ vault }: InsertContext, rows: readonly SealedPayment[]): SealedPayment[] => {
  const maker = vault.maker();
  return rows.map(row => (row.maker === maker ? row : sealNewPayment(vault, row)));
};

const insertAll = async (context: InsertContext, rows: SealedPayment[]): Promise<Map<string, InsertedPayment>> => {
  for (let tried = 1; ; tried++) {
    try {
      return await insertPayments(context.db, withCurrentKey(context, rows), context.keptHours);
    } catch (error) {
      if (!isContention(error) || tried === contentionTries) throw error;
    }
  }
};

/** Finds a row that the database refuses by halving, which costs the others a few statements instead of one each. */
const insertHalving = async (context: InsertContext, rows: SealedPayment[], outcomes: Outcomes): Promise<void> => {
  try {
    for (const [id, outcome] of await insertAll(context, rows)) outcomes.set(id, outcome);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (rows.length === 1) {
      outcomes.set(rows[0]!.id, error as Error);
      return;
    }
    const middle = Math.ceil(rows.length / 2);
    await insertHalving(context, rows.slice(0, middle), outcomes);
    await insertHalving(context, rows.slice(middle), outcomes);
  }
};

/** The first row of each externalId, and the rest: two in one statement would conflict. */
const splitRepeats = (rows: readonly SealedPayment[]): [SealedPayment[], SealedPayment[]] => {
  const seen = new Set<string>();
  const first: SealedPayment[] = [];
  const repeats: SealedPayment[] = [];
  for (const row of rows) {
    const tag = `${row.accountId} ${row.environment} ${row.externalId}`;
    const isRepeat = row.externalId !== null && seen.has(tag);
    (isRepeat ? repeats : first).push(row);
    seen.add(tag);
  }
  return [first, repeats];
};

/**
 * Seals the payments of one turn of the event loop together, which takes less than half of the time that each takes between
 * other work. The database is busy with an earlier batch meanwhile.
 */
const createSealing = ({ vault }: InsertContext): ((row: UnsealedPayment) => Promise<SealedPayment>) => {
  type Waiting = { row: UnsealedPayment; resolve: (row: SealedPayment) => void; reject: (error: unknown) => void };
  const waiting: Waiting[] = [];
  const sealSome = (): void => {
    const asked = waiting.splice(0, maxRows);
    if (waiting.length > 0) setImmediate(sealSome);
    for (const { row, resolve, reject } of asked) {
      try {
        resolve(sealNewPayment(vault, row));
      } catch (error) {
        reject(error);
      }
    }
  };
  return row =>
    new Promise((resolve, reject) => {
      if (waiting.push({ row, resolve, reject }) === 1) setImmediate(sealSome);
    });
};

const insertBatch = async (context: InsertContext, rows: SealedPayment[]): Promise<(InsertedPayment | Error)[]> => {
  const outcomes: Outcomes = new Map();
  const [first, repeats] = splitRepeats(inLockOrder(rows));
  await insertHalving(context, first, outcomes);
  for (const row of repeats) await insertHalving(context, [row], outcomes);
  return rows.map(row => outcomes.get(row.id)!);
};

/** Inserts payments of concurrent requests together. Rejects with the database's error for a refused row. */
export const createInsert = (context: InsertContext): ((row: UnsealedPayment) => Promise<InsertedPayment>) => {
  const seal = createSealing(context);
  const overloaded = () =>
    new FlorinError('service_unavailable', 'Too many payments are being created. Try again shortly.');
  const insert = createBatcher<SealedPayment, InsertedPayment>({
    maxItems: maxRows,
    maxWaiting,
    overloaded,
    run: rows => {
      context.meter.createBatch(rows.length);
      return insertBatch(context, rows);
    },
  });
  let waiting = 0;
  return async row => {
    // Before any work is done for it.
    if (waiting >= maxWaiting) throw overloaded();
    waiting += 1;
    try {
      return await insert(await seal(row));
    } finally {
      waiting -= 1;
    }
  };
};
