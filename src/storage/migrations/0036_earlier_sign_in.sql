-- How a person signed in before the first of the latest changes of it. For a while it still works, and undoes them: whoever
-- was locked out by a thief's change gets back. Null for none.
alter table people
  add column earlier_until timestamptz(3),
  add column earlier_password_hash text check (length(earlier_password_hash) <= 300),
  add column earlier_totp_secret bytea,
  add column earlier_totp_step bigint,
  add column earlier_passkey_ids text[] collate "C" check (cardinality(earlier_passkey_ids) > 0),
  add column earlier_recovery_hashes bytea[] check (cardinality(earlier_recovery_hashes) > 0),
  -- An old password alone restores nothing.
  add check (earlier_until is null or earlier_totp_secret is not null or earlier_passkey_ids is not null);

-- The step belongs to the secret: an earlier secret that comes back has its own.
drop trigger people_steps on people;
create trigger people_steps before update of totp_last_step on people for each row
  when (new.totp_last_step < old.totp_last_step and new.totp_secret is not distinct from old.totp_secret)
  execute function refuse_change('counting down');
