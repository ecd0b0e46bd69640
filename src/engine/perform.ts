import { mayDo } from '../core/access/rights.ts';
import type { Scope } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { shareRole } from '../storage/access/memberships.ts';
import { registeredChanges } from '../storage/audit/register.ts';
import type { Queryable } from '../storage/database.ts';
import { refuseWhileWalletWaits } from './access/ownerGuard.ts';
import { type AccountScope, type Acting, type ActingScope, type Deed, recordAction } from './audit/acting.ts';
import type { Context } from './context.ts';
import { type Answer, type IdempotentRequest, idempotently, type Result } from './idempotency.ts';

/** What a piece of work returns, and what the audit log says about it: null if nothing changed. */
export type Done<T> = {
  readonly value: T;
  readonly deed: Deed | null;
  /** What followed from it: removing a member withdraws their invitations. */
  readonly followed?: readonly Deed[];
};

/** A write. It must refuse before it writes, because a refusal is kept with its Idempotency-Key. */
export type Work<T, S extends ActingScope = Scope> = (tx: Queryable, acting: Acting<S>) => Promise<Done<T>>;
/** A write to what belongs to an account as a whole: people, sessions, the team. */
export type AccountWork<T> = Work<T, AccountScope>;

/** A request that its client may repeat, and how its answer is printed. */
export type Repeatable<T> = { readonly key: IdempotentRequest | null; readonly print: (value: T) => Result };

type Perform = {
  <T, S extends ActingScope>(
    context: Pick<Context, 'db' | 'clock' | 'ids' | 'vault'>,
    acting: Acting<S>,
    request: null,
    work: Work<T, S>,
  ): Promise<T>;
  <T>(context: Context, acting: Acting, request: Repeatable<T>, work: Work<T>): Promise<Answer>;
};

/**
 * The session was checked when the request arrived. Its body may have come later, and the person may have been removed
 * meanwhile. The lock makes a removal wait for this write, or this write see the removal.
 */
const refuseFormer = async (tx: Queryable, { scope, actor, needs }: Acting<ActingScope>): Promise<void> => {
  if (needs === undefined || scope === null) return;
  const role = await shareRole(tx, scope.accountId, actor.id!);
  if (role !== null && (needs === 'signed-in' || mayDo(role, needs))) return;
  throw new FlorinError('permission_denied', 'Your role no longer allows this.');
};

/** The audit log vouches for the rows of an account's register, so a change of one needs a row of the log. */
const refuseUntold = (tx: Queryable): void => {
  const [untold] = registeredChanges(tx);
  if (untold) throw new Error(`${untold.table} was changed without an audit row`);
};

/**
 * The one door for writes, whoever acts: a key, a person, the operator or Florin itself. The idempotency key, the work,
 * its audit row and the row's announcement are one transaction.
 */
export const perform = (async <T>(
  context: Context,
  acting: Acting,
  request: Repeatable<T> | null,
  work: Work<T>,
): Promise<T | Answer> => {
  const run = async (tx: Queryable): Promise<T> => {
    await refuseFormer(tx, acting);
    const { value, deed, followed = [] } = await work(tx, acting);
    const accountOf = ({ in: own }: Deed): string => own?.accountId ?? acting.scope?.accountId ?? '';
    // Each row locks its account's log. In one order, so that two actions in several accounts cannot block each other.
    const deeds = (deed === null ? followed : [...followed, deed]).toSorted((a, b) =>
      accountOf(a).localeCompare(accountOf(b)),
    );
    for (const each of deeds) {
      await refuseWhileWalletWaits(tx, acting, each);
      await recordAction(context, tx, acting, each);
    }
    refuseUntold(tx);
    return value;
  };
  return request === null
    ? context.db.transaction(run)
    : idempotently(context, acting.scope, request.key, async tx => request.print(await run(tx)));
}) as Perform;
