-- Security events are announced: to receivers, to the operator, and by mail.

-- Changes of wallets whose coming into force was announced. Those of before are not.
create table wallet_effects (
  account_id text collate "C" not null,
  environment environment not null,
  network text not null,
  version integer not null,
  announced_at timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, environment, network, version),
  foreign key (account_id) references accounts
);
insert into wallet_effects (account_id, environment, network, version)
  select account_id, environment, network, version from wallets where takes_effect_at <= clock_timestamp();
create index wallets_delayed on wallets (takes_effect_at) where takes_effect_at is not null;

-- What is sent apart from the deliveries of events. A row is deleted once it was sent.
create table outbox (
  id text collate "C" primary key,
  kind text not null check (kind in ('alert', 'farewell', 'mail', 'recovery')),
  -- Encrypted: it contains signing secrets, links and addresses of people.
  content bytea not null check (length(content) <= 131072),
  created_at timestamptz(3) not null default clock_timestamp(),
  failures smallint not null default 0 check (failures >= 0),
  -- A claim moves it on, so that a process that was killed loses nothing.
  next_attempt_at timestamptz(3) not null default clock_timestamp(),
  -- Goes up with each claim, so that a late result changes nothing.
  claim integer not null default 0 check (claim >= 0),
  parked_at timestamptz(3),
  parked_reason text check (length(parked_reason) between 1 and 300),
  check ((parked_at is null) = (parked_reason is null))
);
create index outbox_due on outbox (kind, next_attempt_at) where parked_at is null;
create index outbox_parked on outbox (parked_at) where parked_at is not null;

-- Who reads a person's mailbox can ask for a link. One that the operator made passes where such a one does not.
alter table recovery_links add column by_mail boolean not null default false;
