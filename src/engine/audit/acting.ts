import type { AuditAction } from '../../core/auditActions.ts';
import type { Scope } from '../../core/environment.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Context } from '../context.ts';
import { type Actor, operatorActor, recordAudit } from './audit.ts';

/** Who acts, in which account and environment, and from which address. */
export type Acting = { readonly scope: Scope; readonly actor: Actor; readonly address: string | null };

export const operatorActing = (scope: Scope): Acting => ({ scope, actor: operatorActor, address: null });

/** Adds a row to the audit log, in the transaction of the action. `detail` must contain no secret. */
export const recordAction = (
  context: Pick<Context, 'vault'>,
  tx: Queryable,
  { scope, actor, address }: Acting,
  done: { action: AuditAction; subject: string | null; detail: Record<string, unknown> },
): Promise<void> =>
  recordAudit(context, tx, {
    accountId: scope.accountId,
    environment: scope.environment,
    actor,
    address,
    ...done,
  });
