-- What the dashboard shows of money without counting payments: volumes by day, exceptions, funds that are not swept yet.
-- What exists is counted once, here, while nobody else reads or writes payments: some seconds for a million of them. No
-- table is written anew; of payments, the rows whose funds were forwarded are. All locks are taken first, in the order of
-- those who write, and none is raised later.
lock table forwards, payments, payment_deltas, payment_totals in access exclusive mode;

-- Totals by exception, too. A payment without one has no row more than before. A process of an earlier version that still
-- runs would count without exceptions, volumes and holdings: the new name makes its statements fail instead, both those
-- that write and those that fold.
alter table payment_deltas rename column count to change;
alter table payment_deltas add column exception payment_exception;
alter table payment_totals
  -- '' stands for "any", as in the other columns.
  add column exception text collate "C" not null default '',
  drop constraint payment_totals_pkey,
  add primary key (account_id, environment, status, currency, network, exception, day);
alter table payment_totals alter column exception drop default;
insert into payment_deltas (account_id, environment, status, exception, currency, network, hour, change)
select account_id, environment, status, null, currency, network, date_trunc('hour', created_at, 'UTC'), -count(*)
from payments where exception is not null group by 1, 2, 3, 5, 6, 7
union all
select account_id, environment, status, exception, currency, network, date_trunc('hour', created_at, 'UTC'), count(*)
from payments where exception is not null group by 1, 2, 3, 4, 5, 6, 7;

-- What was confirmed for payments that are completed, by the UTC day of completion. A reversal takes it back.
create table volume_deltas (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null references accounts,
  environment environment not null,
  currency text collate "C" not null,
  network text collate "C" not null,
  decimals smallint not null,
  day date not null,
  count integer not null,
  amount numeric(60, 0) not null
);
create index volume_deltas_account on volume_deltas (account_id, environment);

create table volume_totals (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  currency text collate "C" not null,
  network text collate "C" not null,
  decimals smallint not null,
  day date not null,
  count bigint not null check (count >= 0),
  amount numeric(78, 0) not null check (amount >= 0),
  primary key (account_id, environment, day, currency, network, decimals)
);

insert into volume_totals (account_id, environment, currency, network, decimals, day, count, amount)
select account_id, environment, currency, network, decimals, (completed_at at time zone 'UTC')::date, count(*),
  sum(amount_confirmed)
from payments where status = 'completed' group by 1, 2, 3, 4, 5, 6;

-- What left a payment's address: the sum of the forwards that stand, derived anew whenever one of them comes or goes.
-- Not of the domain base_units: a column whose type has a check makes PostgreSQL write the whole table anew.
alter table payments
  add column amount_forwarded numeric(60, 0) not null default 0,
  add constraint payments_amount_forwarded_check check (amount_forwarded >= 0 and amount_forwarded <= 1e54);
alter table forwards
  -- Null: written before it was kept.
  add column tx_hash text collate "C" check (length(tx_hash) <= 66),
  add column first_seen_at timestamptz(3);
update forwards f set first_seen_at = b.timestamp from blocks b where b.caip2 = f.caip2 and b.hash = f.block_hash;
-- Without a default: a process of an earlier version, which settles nothing, cannot write forwards.
alter table forwards alter column first_seen_at set not null;
create index forwards_transaction on forwards (tx_hash, caip2);

update payments p set amount_forwarded = f.amount
from (
  select f.account_id, f.environment, f.payment_id, least(sum(f.amount), 1e54) as amount
  from forwards f join payments p on p.account_id = f.account_id and p.environment = f.environment
    and p.id = f.payment_id and p.caip2 = f.caip2 and p.contract is not distinct from f.contract
  where f.canonical and f.verified group by 1, 2, 3
) f where p.account_id = f.account_id and p.environment = f.environment and p.id = f.payment_id;

create index payments_exception on payments (account_id, environment, exception, id) where exception is not null;
-- Forwarders that hold final funds, the oldest first: what a sweep takes.
create index payments_unswept on payments (account_id, environment, network, currency, id)
  where wallet_kind = 'forwarder' and amount_confirmed > amount_forwarded;

-- The sums of the same. '' stands for the native coin.
create table holding_deltas (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null references accounts,
  environment environment not null,
  network text collate "C" not null,
  caip2 text collate "C" not null,
  currency text collate "C" not null,
  contract text collate "C" not null,
  decimals smallint not null,
  treasury text collate "C" not null,
  count integer not null,
  amount numeric(60, 0) not null
);
create index holding_deltas_account on holding_deltas (account_id, environment);

create table holding_totals (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  network text collate "C" not null,
  caip2 text collate "C" not null,
  currency text collate "C" not null,
  contract text collate "C" not null,
  decimals smallint not null,
  treasury text collate "C" not null,
  count bigint not null check (count >= 0),
  amount numeric(78, 0) not null check (amount >= 0),
  primary key (account_id, environment, network, currency, caip2, contract, decimals, treasury)
);

insert into holding_totals (account_id, environment, network, caip2, currency, contract, decimals, treasury, count, amount)
select account_id, environment, network, caip2, currency, coalesce(contract, ''), decimals, treasury, count(*),
  sum(amount_confirmed - amount_forwarded)
from payments where wallet_kind = 'forwarder' and amount_confirmed > amount_forwarded group by 1, 2, 3, 4, 5, 6, 7, 8;

-- A sweep that somebody's wallet sent. What became of it is read from the forwards of its transaction.
create table sweeps (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  id text collate "C" not null check (id like 'swp\_%' and length(id) = 30),
  network text collate "C" not null,
  caip2 text collate "C" not null,
  currency text collate "C" not null,
  contract text collate "C",
  decimals smallint not null,
  tx_hash text collate "C" not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  -- What its forwarders held when it was sent.
  amount base_units not null,
  created_at timestamptz(3) not null,
  created_by text collate "C" not null,
  primary key (account_id, environment, id),
  unique (account_id, environment, caip2, tx_hash)
);

create table sweep_payments (
  account_id text collate "C" not null,
  environment environment not null,
  sweep_id text collate "C" not null,
  payment_id text collate "C" not null,
  primary key (account_id, environment, sweep_id, payment_id),
  foreign key (account_id, environment, sweep_id) references sweeps,
  foreign key (account_id, environment, payment_id) references payments
);
create index sweep_payments_payment on sweep_payments (account_id, environment, payment_id);

-- When its receiver last took a test event, which leaves no delivery.
alter table webhook_endpoints add column tested_at timestamptz(3);
