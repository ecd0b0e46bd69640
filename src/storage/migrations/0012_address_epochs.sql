-- An address is never handed out twice, also not by a restored copy of the database.

-- Each process takes an epoch at its start, and its forwarder indexes begin with it. The number follows the clock and only
-- grows; the random mark tells copies of a database apart that start in the same second.
create table derivation_epochs (
  number bigint primary key check (number > 0 and number < 2147483648),
  mark smallint not null check (mark between 0 and 4095),
  taken_at timestamptz(3) not null default clock_timestamp(),
  holder text not null check (length(holder) between 1 and 200)
);

-- Addresses that may have been handed out by payments that a restore lost. They are watched like those of payments.
create table lost_addresses (
  address text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  environment environment not null,
  wallet_kind text not null check (wallet_kind in ('forwarder', 'xpub')),
  treasury text collate "C" not null,
  derivation_index bigint not null check (derivation_index >= 0),
  noted_at timestamptz(3) not null default clock_timestamp()
);

-- Funds that reached a lost address. No payment is known for them, so they are shown and never credited.
create table unclaimed_funds (
  caip2 text collate "C" not null,
  key text collate "C" not null check (length(key) between 1 and 160),
  address text collate "C" not null references lost_addresses,
  contract text collate "C",
  tx_hash text collate "C" check (length(tx_hash) <= 66),
  sender text collate "C",
  amount base_units not null check (amount > 0),
  block_hash text collate "C" not null,
  block_number bigint not null,
  canonical boolean not null,
  verified boolean not null,
  first_seen_at timestamptz(3) not null default clock_timestamp(),
  primary key (caip2, key),
  foreign key (caip2, block_hash, canonical) references blocks (caip2, hash, canonical) on update cascade
);
create index unclaimed_funds_address on unclaimed_funds (address);
create index unclaimed_funds_block on unclaimed_funds (caip2, block_hash, canonical);
