-- Rows that decide where money goes or what is believed are sealed with a key that is not in the database. Existing rows
-- get their seals at the first start after this migration.

alter table accounts add column row_seal bytea check (length(row_seal) = 32);
alter table account_settings add column row_seal bytea check (length(row_seal) = 32);
alter table api_keys add column row_seal bytea check (length(row_seal) = 32);
alter table people add column row_seal bytea check (length(row_seal) = 32);
alter table passkeys add column row_seal bytea check (length(row_seal) = 32);
alter table memberships add column row_seal bytea check (length(row_seal) = 32);
alter table sessions add column row_seal bytea check (length(row_seal) = 32);
alter table access_links add column row_seal bytea check (length(row_seal) = 32);
alter table recovery_links add column row_seal bytea check (length(row_seal) = 32);
alter table webhook_endpoints add column row_seal bytea check (length(row_seal) = 32);
alter table wallets add column row_seal bytea check (length(row_seal) = 32);
-- Older rows are sealed as they are.
alter table wallets drop constraint wallets_seal_check,
  add constraint wallets_seal_check check (seal = 2 or row_seal is not null) not valid;
alter table wallet_stops add column row_seal bytea check (length(row_seal) = 32);
alter table wallet_approvals add column row_seal bytea check (length(row_seal) = 32);
alter table derivation_epochs add column row_seal bytea check (length(row_seal) = 32);
alter table lost_addresses add column row_seal bytea check (length(row_seal) = 32);
alter table chains add column row_seal bytea check (length(row_seal) = 32);

-- Large tables: what the seal covers is in the code beside the statement that writes the row.
alter table payments add column row_seal bytea check (length(row_seal) = 32);
alter table events add column row_seal bytea check (length(row_seal) = 32);
alter table deliveries add column row_seal bytea check (length(row_seal) = 32);
alter table idempotency_keys add column row_seal bytea check (length(row_seal) = 32);
alter table transfers add column row_seal bytea check (length(row_seal) = 32);
alter table forwards add column row_seal bytea check (length(row_seal) = 32);
alter table blocks add column row_seal bytea check (length(row_seal) = 32);
alter table address_baselines add column row_seal bytea check (length(row_seal) = 32);

-- The register of an account: which rows of keys, wallets, memberships and endpoints there are. The log has its hash.
-- Null in older rows.
alter table audit_log add column register bytea check (length(register) = 32);
alter table audit_heads add column register text;
alter table audit_heads add column row_seal bytea check (length(row_seal) = 32);

-- An event never changes, except that it is sealed.
drop trigger events_frozen on events;
create trigger events_frozen before update on events for each row
  when (old.row_seal is not distinct from new.row_seal
    or (to_jsonb(old) - 'row_seal') is distinct from (to_jsonb(new) - 'row_seal'))
  execute function refuse_change('a change');

-- A person's own row says how they sign in: to delete or put back other rows changes nothing. Null for none.
alter table people
  add column passkey_ids text[] collate "C" check (cardinality(passkey_ids) > 0),
  add column recovery_hashes bytea[] check (cardinality(recovery_hashes) > 0);
update people p set
  passkey_ids = (select array_agg(k.id order by k.id) from passkeys k where k.person_id = p.id),
  recovery_hashes = (select array_agg(c.hash order by c.hash) from recovery_codes c
    where c.person_id = p.id and c.used_at is null);
drop table recovery_codes;
