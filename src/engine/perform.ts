import type { AuditAction } from '../core/auditActions.ts';
import type { Queryable } from '../storage/database.ts';
import { type Acting, recordAction } from './audit/acting.ts';
import type { Context } from './context.ts';
import { type Answer, type IdempotentRequest, idempotently, type Result } from './idempotency.ts';

/** A line of the audit log. `detail` must contain no secret. */
export type Deed = {
  readonly action: AuditAction;
  /** The id of what it was done to, or a network. */
  readonly subject: string | null;
  readonly detail: Record<string, unknown>;
};

/** What a piece of work returns, and what the audit log says about it: null if nothing changed. */
export type Done<T> = { readonly value: T; readonly deed: Deed | null };

/** A write. It must refuse before it writes, because a refusal is kept with its Idempotency-Key. */
export type Work<T> = (tx: Queryable, acting: Acting) => Promise<Done<T>>;

/** A request that its client may repeat, and how its answer is printed. */
export type Repeatable<T> = { readonly key: IdempotentRequest | null; readonly print: (value: T) => Result };

type Perform = {
  <T>(context: Pick<Context, 'db' | 'vault'>, acting: Acting, request: null, work: Work<T>): Promise<T>;
  <T>(context: Context, acting: Acting, request: Repeatable<T>, work: Work<T>): Promise<Answer>;
};

/**
 * The one door for writes, whoever acts: a key, a person, the operator or Florin itself. The idempotency key, the work
 * and its audit row are one transaction.
 */
export const perform = (async <T>(
  context: Context,
  acting: Acting,
  request: Repeatable<T> | null,
  work: Work<T>,
): Promise<T | Answer> => {
  const run = async (tx: Queryable): Promise<T> => {
    const { value, deed } = await work(tx, acting);
    if (deed !== null) await recordAction(context, tx, acting, deed);
    return value;
  };
  return request === null
    ? context.db.transaction(run)
    : idempotently(context, acting.scope, request.key, async tx => request.print(await run(tx)));
}) as Perform;
