import type { Action } from '../../core/access/rights.ts';
import type { AuditAction } from '../../core/auditActions.ts';
import type { Scope } from '../../core/environment.ts';
import type { TraceContext } from '../../core/traceContext.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Announcer, Farewell } from './announce.ts';
import { type Actor, operatorActor, personActor, recordAudit } from './audit.ts';

/** An account as a whole: people, sessions and the team belong to no environment. */
export type AccountScope = { readonly accountId: string; readonly environment: null };

/** Null if only the work itself finds out the account: the operator names a transfer or a person. */
export type ActingScope = Scope | AccountScope | null;

/** Who acts, in which account and environment, and from which address. */
export type Acting<S extends ActingScope = Scope> = {
  readonly scope: S;
  readonly actor: Actor;
  readonly address: string | null;
  /** What the person must still be allowed to do when it is written; `signed-in` for what is their own. */
  readonly needs?: Action | 'signed-in';
  /** Of a key's request. Events that follow from it carry it on. */
  readonly trace?: TraceContext | null;
  /** The operator made the link that is used, so a wallet change that waits does not forbid it. */
  readonly isOperatorsLink?: boolean;
};

export const operatorActing = <S extends ActingScope>(scope: S): Acting<S> => ({
  scope,
  actor: operatorActor,
  address: null,
});

/** A person who acts in their account as a whole. */
export const memberActing = (
  person: { readonly accountId: string; readonly personId: string; readonly name: string; readonly email: string },
  address: string | null,
): Acting<AccountScope> => ({
  scope: { accountId: person.accountId, environment: null },
  actor: personActor(person),
  address,
});

/** A line of the audit log. `detail` must contain no secret. */
export type Deed = {
  readonly action: AuditAction;
  /** The id of what it was done to, or a network. */
  readonly subject: string | null;
  readonly detail: Record<string, unknown>;
  /** The account whose log it belongs to, if it is not the one that the actor acts in. */
  readonly in?: Scope | AccountScope;
  readonly farewell?: Farewell | undefined;
};

/** Adds a row to the audit log and announces it, in the transaction of the action. */
export const recordAction = (
  context: Announcer,
  tx: Queryable,
  { scope, actor, address, trace = null }: Acting<ActingScope>,
  { in: own, ...deed }: Deed,
): Promise<void> => {
  const found = own ?? scope;
  if (found === null) throw new Error('an audit row needs an account');
  const { accountId, environment } = found;
  return recordAudit(context, tx, { accountId, environment, actor, address, trace, ...deed });
};
