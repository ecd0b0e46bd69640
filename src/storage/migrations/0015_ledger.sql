-- A ledger that balances, and the comparison of every address with the chain. The ledger is derived by triggers from the
-- facts of the chain, so that no statement that changes a fact can leave it out.
lock table transfers, forwards, payments in share row exclusive mode;

-- `received` and `stray` are what payers sent, `found` is what sweeps moved beyond the recorded transfers, `corrected` is
-- what an operator entered. `forwarders` is what receiving addresses hold, `treasury` what is in the merchant's own wallet.
create domain ledger_account as text collate "C"
  check (value in ('received', 'stray', 'found', 'corrected', 'forwarders', 'treasury'));

-- Amounts that left one ledger account and entered another. So the balances of all ledger accounts add up to zero.
create table ledger_deltas (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null references accounts,
  environment environment not null,
  caip2 text collate "C" not null,
  -- '' stands for the native coin.
  contract text collate "C" not null,
  source ledger_account not null,
  destination ledger_account not null check (destination <> source),
  count integer not null,
  amount numeric(60, 0) not null
);
create index ledger_deltas_account on ledger_deltas (account_id, environment);

create table ledger_totals (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  caip2 text collate "C" not null,
  contract text collate "C" not null,
  source ledger_account not null,
  destination ledger_account not null check (destination <> source),
  count bigint not null check (count >= 0),
  -- Only a correction can take something away.
  amount numeric(78, 0) not null check (amount >= 0 or source = 'corrected'),
  primary key (account_id, environment, caip2, contract, source, destination)
);

-- Transfers count while they are canonical and verified. The merchant holds the keys of extended public keys: what arrives
-- there is in the treasury.
create function post_transfers() returns trigger language plpgsql as $$
begin
  insert into ledger_deltas (account_id, environment, caip2, contract, source, destination, count, amount)
  select t.account_id, t.environment, t.caip2, coalesce(t.contract, ''),
    case when t.stray then 'stray' else 'received' end,
    case when p.wallet_kind = 'forwarder' then 'forwarders' else 'treasury' end, count(*), sum(t.amount)
  from added t join payments p on p.account_id = t.account_id and p.environment = t.environment and p.id = t.payment_id
  where t.canonical and t.verified and not t.superseded
  group by 1, 2, 3, 4, 5, 6;
  return null;
end $$;
create trigger transfers_posted after insert on transfers referencing new table as added
  for each statement execute function post_transfers();

create function repost_transfer() returns trigger language plpgsql as $$
declare
  sign integer := case when new.canonical and new.verified and not new.superseded then 1 else -1 end;
begin
  insert into ledger_deltas (account_id, environment, caip2, contract, source, destination, count, amount)
  select new.account_id, new.environment, new.caip2, coalesce(new.contract, ''),
    case when new.stray then 'stray' else 'received' end,
    case when p.wallet_kind = 'forwarder' then 'forwarders' else 'treasury' end, sign, sign * new.amount
  from payments p where p.account_id = new.account_id and p.environment = new.environment and p.id = new.payment_id;
  return null;
end $$;
create trigger transfers_reposted after update on transfers for each row
  when ((old.canonical and old.verified and not old.superseded) <> (new.canonical and new.verified and not new.superseded))
  execute function repost_transfer();

create function post_forwards() returns trigger language plpgsql as $$
begin
  insert into ledger_deltas (account_id, environment, caip2, contract, source, destination, count, amount)
  select account_id, environment, caip2, coalesce(contract, ''), 'forwarders', 'treasury', count(*), sum(amount)
  from added where canonical and verified group by 1, 2, 3, 4;
  return null;
end $$;
create trigger forwards_posted after insert on forwards referencing new table as added
  for each statement execute function post_forwards();

create function repost_forward() returns trigger language plpgsql as $$
declare
  sign integer := case when new.canonical and new.verified then 1 else -1 end;
begin
  insert into ledger_deltas (account_id, environment, caip2, contract, source, destination, count, amount)
  values (new.account_id, new.environment, new.caip2, coalesce(new.contract, ''), 'forwarders', 'treasury', sign,
    sign * new.amount);
  return null;
end $$;
create trigger forwards_reposted after update on forwards for each row
  when ((old.canonical and old.verified) <> (new.canonical and new.verified)) execute function repost_forward();

-- What addresses hold and the records do not say (positive), or the reverse (negative). Never credited by itself.
create table differences (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null,
  environment environment not null,
  payment_id text collate "C" not null,
  caip2 text collate "C" not null,
  contract text collate "C",
  amount numeric(60, 0) not null check (amount <> 0),
  -- What the records said up to the block.
  recorded numeric(60, 0) not null,
  block_number bigint not null check (block_number >= 0),
  seen_at timestamptz(3) not null default clock_timestamp(),
  checked_at timestamptz(3) not null default clock_timestamp(),
  -- The records and the balance agree again, or an operator has corrected the records.
  resolved_at timestamptz(3),
  foreign key (account_id, environment, payment_id) references payments (account_id, environment, id)
);
create unique index differences_open on differences (payment_id, caip2, coalesce(contract, '')) where resolved_at is null;
create index differences_account on differences (account_id, environment) where resolved_at is null;
-- They are found again by the next comparison.
drop table unexplained_funds;

-- Balances that differ from the records and wait until their block is final.
create table suspected_differences (
  caip2 text collate "C" not null references chains (caip2),
  payment_id text collate "C" not null,
  contract text collate "C" not null,
  account_id text collate "C" not null,
  environment environment not null,
  balance numeric(60, 0) not null,
  block_number bigint not null,
  block_hash text collate "C" not null,
  seen_at timestamptz(3) not null default clock_timestamp(),
  primary key (caip2, payment_id, contract),
  foreign key (account_id, environment, payment_id) references payments (account_id, environment, id)
);

-- What an operator entered to resolve a difference. A row is never changed.
create table ledger_corrections (
  difference_id bigint primary key references differences,
  account_id text collate "C" not null,
  environment environment not null,
  payment_id text collate "C" not null,
  caip2 text collate "C" not null,
  contract text collate "C",
  amount numeric(60, 0) not null check (amount <> 0),
  block_number bigint not null,
  corrected_at timestamptz(3) not null default clock_timestamp(),
  corrected_by text not null check (length(corrected_by) between 1 and 320),
  reason text not null check (length(reason) between 1 and 1000),
  foreign key (account_id, environment, payment_id) references payments (account_id, environment, id)
);
create index ledger_corrections_payment on ledger_corrections (account_id, environment, payment_id);
create trigger ledger_corrections_frozen before update or delete on ledger_corrections for each row
  execute function refuse_change('a change');
create trigger ledger_corrections_kept before truncate on ledger_corrections for each statement
  execute function refuse_change('a change');

create function post_correction() returns trigger language plpgsql as $$
begin
  insert into ledger_deltas (account_id, environment, caip2, contract, source, destination, count, amount)
  select new.account_id, new.environment, new.caip2, coalesce(new.contract, ''), 'corrected',
    case when p.wallet_kind = 'forwarder' then 'forwarders' else 'treasury' end, 1, new.amount
  from payments p where p.account_id = new.account_id and p.environment = new.environment and p.id = new.payment_id;
  return null;
end $$;
create trigger ledger_corrections_posted after insert on ledger_corrections for each row execute function post_correction();

-- What the records say about the address of a payment up to a block, per chain and token:
-- * `held`: what it holds, with what sweeps moved beyond all recorded transfers (`excess`)
-- * `found`: what sweeps moved beyond the verified transfers, which alone count
-- * `forwarded`: what they moved of the verified transfers
create function forwarder_records(of_account text, of_environment environment, of_payment text, up_to bigint)
returns table (caip2 text, contract text, held numeric, excess numeric, found numeric, forwarded numeric)
language sql stable parallel safe as $$
  select s.caip2, s.contract, s.amount + s.excess, s.excess, s.found, greatest(s.forwarded - s.corrected - s.found, 0)
  from (
    select m.caip2, m.contract, sum(m.amount) as amount, sum(m.forwarded) as forwarded, sum(m.corrected) as corrected,
      greatest(-min(m.balance), 0) as excess, greatest(-min(m.verified_balance), 0) as found
    from (
      select f.*,
        -- Within a block, what arrives comes first: sweeps are not ahead without need.
        sum(f.amount) over in_order as balance, sum(f.verified_amount) over in_order as verified_balance
      from (
        select t.caip2, coalesce(t.contract, '') as contract, t.block_number, t.amount::numeric as amount,
          case when t.verified then t.amount else 0 end as verified_amount, 0 as forwarded, 0 as corrected
        from transfers t where t.account_id = of_account and t.environment = of_environment and t.payment_id = of_payment
          and t.canonical and not t.superseded and t.block_number <= up_to
        union all
        select f.caip2, coalesce(f.contract, ''), f.block_number, -f.amount, -f.amount, f.amount, 0
        from forwards f where f.account_id = of_account and f.environment = of_environment and f.payment_id = of_payment
          and f.canonical and f.verified and f.block_number <= up_to
        union all
        select c.caip2, coalesce(c.contract, ''), c.block_number, c.amount, c.amount, 0, c.amount
        from ledger_corrections c
        where c.account_id = of_account and c.environment = of_environment and c.payment_id = of_payment
          and c.block_number <= up_to
      ) f window in_order as (partition by f.caip2, f.contract order by f.block_number, f.amount < 0)
    ) m group by m.caip2, m.contract
  ) s
$$;

-- What sweeps moved beyond what had arrived, so that it cannot hide what arrives later.
create table found_funds (
  account_id text collate "C" not null,
  environment environment not null,
  payment_id text collate "C" not null,
  caip2 text collate "C" not null,
  contract text collate "C" not null,
  amount numeric(60, 0) not null check (amount >= 0 and amount <= 1e54),
  primary key (account_id, environment, payment_id, caip2, contract),
  foreign key (account_id, environment, payment_id) references payments (account_id, environment, id)
);

create function post_found() returns trigger language plpgsql as $$
declare
  change numeric := new.amount - case when tg_op = 'UPDATE' then old.amount else 0 end;
begin
  insert into ledger_deltas (account_id, environment, caip2, contract, source, destination, count, amount)
  values (new.account_id, new.environment, new.caip2, new.contract, 'found', 'forwarders',
    (new.amount > 0)::int - case when tg_op = 'UPDATE' then (old.amount > 0)::int else 0 end, change);
  return null;
end $$;
create trigger found_funds_posted after insert or update on found_funds for each row execute function post_found();

-- How far each chain's addresses are compared with its balances.
create table reconciliations (
  caip2 text collate "C" primary key references chains (caip2),
  -- The last payment compared in this round; '' before the first.
  after_id text collate "C" not null default '',
  round_started_at timestamptz(3),
  compared bigint not null default 0 check (compared >= 0),
  -- The last complete round.
  finished_at timestamptz(3),
  finished_compared bigint check (finished_compared >= 0),
  -- An operator asks for a round at once.
  requested_at timestamptz(3)
);

-- Anybody can sweep a token of his own from a forwarder. Such forwards are no longer recorded.
delete from forwards f where f.contract is not null
  and (f.caip2, f.contract) not in (select distinct caip2, contract from transfers where contract is not null);

-- What exists is posted once.
insert into ledger_totals (account_id, environment, caip2, contract, source, destination, count, amount)
select t.account_id, t.environment, t.caip2, coalesce(t.contract, ''), case when t.stray then 'stray' else 'received' end,
  case when p.wallet_kind = 'forwarder' then 'forwarders' else 'treasury' end, count(*), sum(t.amount)
from transfers t join payments p on p.account_id = t.account_id and p.environment = t.environment and p.id = t.payment_id
where t.canonical and t.verified and not t.superseded group by 1, 2, 3, 4, 5, 6;
insert into ledger_totals (account_id, environment, caip2, contract, source, destination, count, amount)
select account_id, environment, caip2, coalesce(contract, ''), 'forwarders', 'treasury', count(*), sum(amount)
from forwards where canonical and verified group by 1, 2, 3, 4;

-- A process of an earlier version would settle sweeps without what they found: it cannot write forwards any more.
alter table forwards rename column first_seen_at to recorded_at;

insert into found_funds (account_id, environment, payment_id, caip2, contract, amount)
select f.account_id, f.environment, f.payment_id, r.caip2, r.contract, least(r.found, 1e54)
from (select distinct account_id, environment, payment_id from forwards) f
  cross join lateral forwarder_records(f.account_id, f.environment, f.payment_id, 9223372036854775807) r
where r.found > 0;
with changed as (
  select p.account_id, p.environment, p.id, p.network, p.caip2, p.currency, coalesce(p.contract, '') as contract, p.decimals,
    p.treasury, greatest(p.amount_forwarded - f.amount, 0) as forwarded,
    greatest(p.amount_confirmed - p.amount_forwarded, 0) as was
  from found_funds f join payments p on p.account_id = f.account_id and p.environment = f.environment
    and p.id = f.payment_id and p.caip2 = f.caip2 and coalesce(p.contract, '') = f.contract
  where p.wallet_kind = 'forwarder'
), settled as (
  update payments p set amount_forwarded = c.forwarded from changed c
  where p.account_id = c.account_id and p.environment = c.environment and p.id = c.id
  returning p.id, greatest(p.amount_confirmed - p.amount_forwarded, 0) as held
)
insert into holding_deltas (account_id, environment, network, caip2, currency, contract, decimals, treasury, count, amount)
select c.account_id, c.environment, c.network, c.caip2, c.currency, c.contract, c.decimals, c.treasury,
  sum((s.held > 0)::int - (c.was > 0)::int), sum(s.held - c.was)
from changed c join settled s on s.id = c.id group by 1, 2, 3, 4, 5, 6, 7, 8
having sum((s.held > 0)::int - (c.was > 0)::int) <> 0 or sum(s.held - c.was) <> 0;
