-- What an operator entered decides how much coin an address lacks: such rows are sealed. Existing ones get their seals at the
-- next start, if the audit log has the act. They stay frozen but for that.
alter table ledger_corrections add column row_seal bytea check (length(row_seal) = 32);
drop trigger ledger_corrections_frozen on ledger_corrections;
create trigger ledger_corrections_frozen before update on ledger_corrections for each row
  when ((to_jsonb(old) - 'row_seal') is distinct from (to_jsonb(new) - 'row_seal'))
  execute function refuse_change('a change');
create trigger ledger_corrections_undeleted before delete on ledger_corrections for each row
  execute function refuse_change('a change');
