-- What arrives is looked at twice: contracts that are really read, blocks read again, balances before expiry and after.

-- The token contracts that the watcher of a chain reads. `read_to` is null while it does, then the last block read.
create table read_contracts (
  caip2 text collate "C" not null references chains (caip2),
  contract text collate "C" not null check (length(contract) between 1 and 100),
  read_to bigint check (read_to >= 0),
  primary key (caip2, contract)
);

-- Ranges of blocks to read again. The process that holds the lease of the chain reads them.
create table rescans (
  id bigint generated always as identity primary key,
  caip2 text collate "C" not null references chains (caip2),
  -- Either a height or a time, which becomes a height once a node is asked.
  from_number bigint check (from_number >= 0),
  from_time timestamptz(3),
  to_number bigint not null,
  -- Null: all addresses.
  address text collate "C" check (length(address) <= 100),
  reason text not null check (length(reason) between 1 and 200),
  requested_at timestamptz(3) not null default clock_timestamp(),
  next_number bigint,
  found integer not null default 0 check (found >= 0),
  fault text check (length(fault) <= 1000),
  finished_at timestamptz(3),
  check (from_number is not null or from_time is not null),
  check (finished_at is null or next_number > to_number)
);
create index rescans_open on rescans (caip2, id) where finished_at is null;

-- Funds that an address holds and no recorded transfer explains. Never credited by itself.
create table unexplained_funds (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null,
  environment environment not null,
  payment_id text collate "C" not null,
  caip2 text collate "C" not null,
  contract text collate "C",
  amount base_units not null check (amount > 0),
  block_number bigint not null check (block_number >= 0),
  seen_at timestamptz(3) not null default clock_timestamp(),
  checked_at timestamptz(3) not null default clock_timestamp(),
  resolved_at timestamptz(3),
  foreign key (account_id, environment, payment_id) references payments (account_id, environment, id)
);
create unique index unexplained_funds_open on unexplained_funds (payment_id, caip2, coalesce(contract, ''))
  where resolved_at is null;

-- What an address of an extended public key held before its payment existed.
create table address_baselines (
  caip2 text collate "C" not null,
  address text collate "C" not null check (length(address) <= 100),
  amount base_units not null,
  block_number bigint not null check (block_number >= 0),
  read_at timestamptz(3) not null,
  primary key (caip2, address)
);

alter table payments
  -- Up to this time, the balances of the address agree with the recorded transfers.
  add column balance_checked_at timestamptz(3),
  -- When its time is over, a payment waits for that.
  add column awaits_read boolean not null default true,
  -- Expired although its balances could not be read, or did not agree.
  add column expired_unread boolean not null default false,
  -- False once the late window of a closed payment is over: its balance is no longer read.
  add column watched boolean not null default true;

-- A payment that is due is in one of two indexes, depending on whether it waits for its balances.
drop index payments_wake;
create index payments_wake_unread on payments (caip2, (contract is null), wake_at)
  where wake_at is not null and awaits_read;
create index payments_wake on payments (caip2, (contract is null), wake_at)
  where wake_at is not null and not awaits_read;
create index payments_expired_unread on payments (caip2, id) where expired_unread;
create index payments_closed_watched on payments (caip2, id)
  where watched and status in ('expired', 'canceled', 'completed');
