import type { Environment } from '../../core/environment.ts';
import { type AuditLogRow, auditColumns } from '../audit/auditLog.ts';
import type { Queryable, Row } from '../database.ts';

const told = `a.action = 'ledger.corrected'`;

/** What the audit log says of a correction. */
const detailOf = (alias: string): string =>
  `jsonb_build_object('caip2', ${alias}.caip2, 'contract', ${alias}.contract, 'amount', ${alias}.amount::text,
    'block', ${alias}.block_number, 'by', ${alias}.corrected_by, 'reason', ${alias}.reason)`;

const actsStatement = {
  name: 'correction-acts',
  text: `select ${auditColumns} from jsonb_populate_record(null::ledger_corrections, $1::text::jsonb) c
    join audit_log a on a.account_id = c.account_id and a.environment = c.environment and a.subject = c.payment_id
      and ${told} and a.detail::jsonb = ${detailOf('c')}
    order by a.sequence`,
};
/** The rows of the audit log that say what a correction says, which is given as the text of its seal. */
export const readCorrectionActs = (db: Queryable, text: string): Promise<AuditLogRow[]> =>
  db.query<AuditLogRow>(actsStatement, [text]);

const alikeStatement = {
  name: 'corrections-alike',
  text: `select count(*)::int as total from jsonb_populate_record(null::ledger_corrections, $1::text::jsonb) o
    join ledger_corrections c on c.account_id = o.account_id and c.environment = o.environment and c.payment_id = o.payment_id
    where ${detailOf('c')} = ${detailOf('o')}`,
};
/** How many corrections say what this one says, with itself. */
export const countAlike = async (db: Queryable, text: string): Promise<number> =>
  (await db.query<Row & { total: number }>(alikeStatement, [text]))[0]!.total;

export type CorrectionFault = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly paymentId: string;
  readonly fault: 'gone' | 'untold';
};

const faultsStatement = {
  name: 'correction-faults',
  text: `select account_id as "accountId", environment, payment_id as "paymentId",
      case when sum(kept) < 0 then 'gone' else 'untold' end as fault
    from (
      select a.account_id, a.environment, a.subject as payment_id, a.detail::jsonb as detail, -1 as kept
      from audit_log a where ${told}
      union all
      select c.account_id, c.environment, c.payment_id, ${detailOf('c')}, 1 from ledger_corrections c
    ) rows
    group by account_id, environment, payment_id, detail having sum(kept) <> 0
    order by account_id, environment, payment_id limit $1`,
};
/** Corrections that the audit log lists but that are gone, and those that it does not list. */
export const readCorrectionFaults = (db: Queryable, limit: number): Promise<CorrectionFault[]> =>
  db.query<Row & CorrectionFault>(faultsStatement, [limit]);
