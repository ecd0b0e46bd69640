import type { AuditRow } from '../../core/api/teamApi.ts';
import type { AuditLogRow } from '../../storage/audit/auditLog.ts';

export const auditObject = (row: AuditLogRow): AuditRow => ({
  id: row.sequence,
  at: row.at.toISOString(),
  environment: row.environment,
  actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
  action: row.action,
  subject: row.subject,
  detail: JSON.parse(row.detail) as Record<string, unknown>,
  address: row.address,
});
