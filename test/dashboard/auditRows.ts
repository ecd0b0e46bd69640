import type { TestFlorin } from '../support/florin.ts';

export type AuditLine = {
  action: string;
  subject: string | null;
  environment: string | null;
  actor: string;
  detail: Record<string, unknown>;
};

/** An account's audit log from the database, oldest first. */
export const auditRows = (scene: TestFlorin, accountId: string): Promise<AuditLine[]> =>
  scene.admin.db.query<AuditLine>(
    {
      name: 'test-audit-rows',
      text: `select action, subject, environment, actor_name as actor, detail from audit_log where account_id = $1
        order by sequence`,
    },
    [accountId],
  );
