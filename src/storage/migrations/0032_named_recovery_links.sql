-- A person's own row names the link by which they may set a new password, as it names their sessions: to put back the row of
-- a link that was used, replaced or ended opens nothing. Null for none.
alter table people add column recovery_hash bytea check (length(recovery_hash) = 32);

-- Rows that have a seal already keep it: their open links end here.
update people p set recovery_hash = r.token_hash from recovery_links r
  where r.person_id = p.id and r.used_at is null and r.expires_at > clock_timestamp() and p.removed_at is null
    and p.row_seal is null;
