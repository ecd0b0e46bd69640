-- The dashboard's people: how they prove who they are, their sessions, and what was done by whom.

create type person_role as enum ('owner', 'admin', 'developer', 'finance', 'support', 'viewer');

create table people (
  account_id text collate "C" not null references accounts,
  id text collate "C" not null check (id like 'usr\_%' and length(id) = 30),
  email text collate "C" not null check (email = lower(email) and length(email) between 3 and 254),
  name text not null check (length(name) between 1 and 200),
  role person_role not null,
  -- With its own salt and parameters. Null once the person is removed.
  password_hash text check (length(password_hash) <= 300),
  -- Encrypted. The pending one is in force once a code of it was given.
  totp_secret bytea,
  totp_pending bytea,
  -- The latest time step of which a code was taken: none is taken twice.
  totp_last_step bigint not null default 0,
  created_at timestamptz(3) not null default clock_timestamp(),
  last_seen_at timestamptz(3),
  -- The row stays, so that what the person did can still be told; what they knew goes.
  removed_at timestamptz(3),
  primary key (account_id, id),
  unique (id),
  check (removed_at is null or (password_hash is null and totp_secret is null and totp_pending is null))
);
-- People sign in by it, so it is one over all accounts.
create unique index people_email on people (email) where removed_at is null;
create trigger people_steps before update of totp_last_step on people for each row
  when (new.totp_last_step < old.totp_last_step) execute function refuse_change('counting down');

create table recovery_codes (
  account_id text collate "C" not null,
  person_id text collate "C" not null,
  hash bytea not null check (length(hash) = 32),
  used_at timestamptz(3),
  primary key (account_id, person_id, hash),
  foreign key (account_id, person_id) references people
);

create table passkeys (
  account_id text collate "C" not null,
  person_id text collate "C" not null,
  id text collate "C" not null check (id like 'psk\_%' and length(id) = 30),
  credential_id bytea not null unique check (length(credential_id) between 1 and 1023),
  public_key bytea not null check (length(public_key) between 1 and 4096),
  counter bigint not null check (counter >= 0),
  transports text[] not null default '{}' check (cardinality(transports) <= 10),
  backed_up boolean not null,
  name text not null check (length(name) between 1 and 100),
  created_at timestamptz(3) not null default clock_timestamp(),
  last_used_at timestamptz(3),
  primary key (account_id, person_id, id),
  foreign key (account_id, person_id) references people
);

-- What an authenticator signs: good once, for a few minutes, and for one purpose.
create table passkey_challenges (
  challenge bytea primary key check (length(challenge) = 32),
  purpose text not null check (purpose in ('register', 'sign-in', 'prove')),
  -- Nobody yet at a sign-in.
  person_id text collate "C",
  expires_at timestamptz(3) not null,
  check ((person_id is null) = (purpose = 'sign-in'))
);
create index passkey_challenges_due on passkey_challenges (expires_at);

create table sessions (
  account_id text collate "C" not null,
  person_id text collate "C" not null,
  id text collate "C" not null check (id like 'ses\_%' and length(id) = 30),
  -- Of the cookie's value, which is stored nowhere.
  token_hash bytea not null unique check (length(token_hash) = 32),
  created_at timestamptz(3) not null default clock_timestamp(),
  last_seen_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  proven_until timestamptz(3),
  address text not null check (length(address) <= 64),
  device text not null check (length(device) <= 200),
  primary key (account_id, person_id, id),
  foreign key (account_id, person_id) references people
);
create index sessions_due on sessions (expires_at);

-- Links that make a person: the setup link an owner, an invitation whom its sender chose.
create table access_links (
  account_id text collate "C" not null references accounts,
  id text collate "C" not null check (id like 'inv\_%' and length(id) = 30),
  token_hash bytea not null unique check (length(token_hash) = 32),
  kind text not null check (kind in ('setup', 'invitation')),
  role person_role not null,
  email text collate "C" check (email = lower(email) and length(email) between 3 and 254),
  created_by text collate "C",
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  primary key (account_id, id),
  check ((email is null) = (kind = 'setup')),
  check (kind <> 'setup' or role = 'owner')
);

-- Guesses, counted by what was guessed at and by where from: a hash, because it may be no e-mail of anybody here.
create table sign_in_failures (
  subject bytea primary key check (length(subject) = 32),
  failures integer not null check (failures >= 0),
  failed_at timestamptz(3) not null
);
create index sign_in_failures_old on sign_in_failures (failed_at);

-- What was done by whom. Each row is authenticated together with the one before it, by a key that the database never sees.
create table audit_log (
  account_id text collate "C" not null references accounts,
  sequence bigint not null check (sequence > 0),
  at timestamptz(3) not null,
  environment environment,
  actor_kind text not null check (actor_kind in ('person', 'operator', 'system')),
  actor_id text collate "C",
  actor_name text not null check (length(actor_name) <= 200),
  action text collate "C" not null check (action ~ '^[a-z_]+(\.[a-z_]+)+$' and length(action) <= 100),
  subject text collate "C" check (length(subject) <= 300),
  -- Text as it was authenticated: jsonb would write it differently.
  detail json not null check (length(detail::text) <= 16384),
  address text check (length(address) <= 64),
  previous_hash bytea not null check (length(previous_hash) = 32),
  hash bytea not null check (length(hash) = 32),
  primary key (account_id, sequence)
);
create index audit_log_subject on audit_log (account_id, subject, sequence);
create index audit_log_action on audit_log (account_id, action, sequence);
create index audit_log_actor on audit_log (account_id, actor_id, sequence);
create trigger audit_log_frozen before update or delete on audit_log for each row
  execute function refuse_change('a change');
create trigger audit_log_kept before truncate on audit_log for each statement
  execute function refuse_change('a change');

-- The end of each account's chain: locked by whoever adds to it, and what tells that the last rows are gone.
create table audit_heads (
  account_id text collate "C" primary key references accounts,
  sequence bigint not null check (sequence >= 0),
  hash bytea not null check (length(hash) = 32)
);
create trigger audit_heads_forward before update on audit_heads for each row
  when (new.sequence < old.sequence) execute function refuse_change('counting down');
create trigger audit_heads_kept before delete on audit_heads for each row execute function refuse_change('a change');
