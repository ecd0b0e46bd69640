-- What the dashboard sets up: changes of wallets that wait, when a key was last used, how the checkout looks.

-- A change is a row like any other, put in at once and in force from its time on: nothing has to happen at that moment, and
-- rows are never changed. Null: from the moment it was put in.
alter table wallets
  add column takes_effect_at timestamptz(3) check (takes_effect_at >= created_at),
  add column requested_by text check (length(requested_by) between 1 and 320),
  -- What its seal covers. 1: not its version, so that a copy of it under a later number would be good. Rows of before are
  -- left as they are, and no other row may be like them. No default: an older Florin beside this one writes none.
  add column seal smallint not null default 1;
alter table wallets alter column seal drop default, add constraint wallets_seal_check check (seal = 2) not valid;

-- A change that was stopped before it took effect. It cannot be taken back: a new change waits anew.
create table wallet_stops (
  account_id text collate "C" not null,
  environment environment not null,
  network text not null,
  version integer not null,
  stopped_at timestamptz(3) not null default clock_timestamp(),
  stopped_by text not null check (length(stopped_by) between 1 and 320),
  primary key (account_id, environment, network, version),
  foreign key (account_id, environment, network, version) references wallets
);

-- Somebody has found what a wallet pays to in a wallet of their own.
create table wallet_verifications (
  account_id text collate "C" not null,
  environment environment not null,
  network text not null,
  version integer not null,
  verified_at timestamptz(3) not null default clock_timestamp(),
  verified_by text not null check (length(verified_by) between 1 and 320),
  primary key (account_id, environment, network, version),
  foreign key (account_id, environment, network, version) references wallets
);

-- Beside the keys, not in them: those are locked and changed by people, this is written by every process once a minute.
create table key_uses (
  account_id text collate "C" not null,
  environment environment not null,
  key_id text collate "C" not null,
  last_used_at timestamptz(3) not null,
  primary key (account_id, environment, key_id),
  foreign key (account_id, environment, key_id) references api_keys
);

-- The checkout's looks. A part of the settings, so that a page depends on no more rows than it did.
alter table account_settings
  add column brand_name text check (length(brand_name) between 1 and 200),
  add column brand_accent text check (brand_accent ~ '^#[0-9a-f]{6}$'),
  add column brand_logo bytea check (length(brand_logo) between 1 and 65536),
  -- Its file's name, which follows from its bytes: logo-<hash>.<kind>
  add column brand_logo_name text collate "C" check (brand_logo_name ~ '^logo-[0-9a-f]{32}\.(png|jpg|webp)$'),
  add check ((brand_logo is null) = (brand_logo_name is null));

create index account_settings_logo on account_settings (brand_logo_name) where brand_logo_name is not null;
