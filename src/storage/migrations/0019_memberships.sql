-- A person is apart from their memberships: one sign-in, several accounts. Accounts add and remove memberships only.
-- All at once and not for long: a read of one of them must not hold up the others.
set local lock_timeout = '10s';
lock table people, recovery_codes, passkeys, sessions, api_keys, wallets, wallet_stops, wallet_verifications,
  treasury_confirmations, audit_log in access exclusive mode;

create table memberships (
  account_id text collate "C" not null references accounts,
  person_id text collate "C" not null,
  role person_role not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  last_seen_at timestamptz(3),
  -- The row stays, so that what the person did can still be told.
  removed_at timestamptz(3),
  primary key (account_id, person_id)
);
create index memberships_person on memberships (person_id);
insert into memberships (account_id, person_id, role, created_at, last_seen_at, removed_at)
  select account_id, id, role, created_at, last_seen_at, removed_at from people;

alter table recovery_codes drop constraint recovery_codes_account_id_person_id_fkey;
alter table passkeys drop constraint passkeys_account_id_person_id_fkey;
alter table sessions drop constraint sessions_account_id_person_id_fkey;

-- The account that the person joined first is part of what their authenticator is sealed for. It gives no right.
alter table people rename column account_id to first_account_id;
alter table people drop constraint people_pkey, drop constraint people_id_key;
alter table people add primary key (id), drop column role, drop column last_seen_at;
alter table memberships add foreign key (person_id) references people;

alter table recovery_codes drop constraint recovery_codes_pkey;
alter table recovery_codes add primary key (person_id, hash), add foreign key (person_id) references people,
  drop column account_id;
alter table passkeys drop constraint passkeys_pkey;
alter table passkeys add primary key (person_id, id), add foreign key (person_id) references people,
  drop column account_id;
-- A session is open in one of the person's accounts at a time.
alter table sessions drop constraint sessions_pkey;
alter table sessions add primary key (person_id, id),
  add foreign key (account_id, person_id) references memberships (account_id, person_id);

-- The person who made a key; null if it was the operator.
alter table api_keys add column created_by text collate "C" references people;
create index api_keys_created_by on api_keys (created_by) where created_by is not null;

-- Links by which a person who cannot sign in any more sets a new password. Only the operator makes them.
create table recovery_links (
  token_hash bytea primary key check (length(token_hash) = 32),
  person_id text collate "C" not null references people,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- Another owner gets a day to object.
  opens_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  check (opens_at < expires_at)
);
create index recovery_links_person on recovery_links (person_id);

-- Names in announcements and in the audit log carry the e-mail address.
alter table wallets drop constraint wallets_requested_by_check,
  add constraint wallets_requested_by_check check (length(requested_by) between 1 and 500);
alter table wallet_stops drop constraint wallet_stops_stopped_by_check,
  add constraint wallet_stops_stopped_by_check check (length(stopped_by) between 1 and 500);
alter table wallet_verifications drop constraint wallet_verifications_verified_by_check,
  add constraint wallet_verifications_verified_by_check check (length(verified_by) between 1 and 500);
alter table treasury_confirmations drop constraint treasury_confirmations_confirmed_by_check,
  add constraint treasury_confirmations_confirmed_by_check check (length(confirmed_by) between 1 and 500);
alter table audit_log drop constraint audit_log_actor_name_check;
alter table audit_log add constraint audit_log_actor_name_check check (length(actor_name) <= 500) not valid;
