import type { AuditAction } from '../../src/core/auditActions.ts';
import type { Environment } from '../../src/core/environment.ts';
import type { AdminContext } from '../../src/engine/access/accounts.ts';
import { operatorActor } from '../../src/engine/audit/audit.ts';
import { perform } from '../../src/engine/perform.ts';

/** An act that changes nothing but has its row of the audit log, through the door of all writes. */
export const performed = async (
  admin: AdminContext,
  accountId: string,
  act: {
    readonly action: AuditAction;
    readonly environment: Environment | null;
    readonly detail?: Readonly<Record<string, unknown>>;
  },
): Promise<void> => {
  const { action, environment, detail = {} } = act;
  const scope = environment === null ? { accountId, environment } : { accountId, environment };
  const acting = { scope, actor: operatorActor, address: null };
  const deed = { action, subject: null, detail };
  await perform(admin, acting, null, async () => ({ value: null, deed }));
};
