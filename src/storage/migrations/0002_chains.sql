-- Watching chains for funds: how far each has been read, its recent blocks, and what arrived at payments' addresses.

-- A chain may stand behind several slugs; what is read of it belongs to none of them.
create table chains (
  caip2 text collate "C" primary key check (length(caip2) between 3 and 41),
  -- Nothing before this block was looked at: no address of ours existed then.
  start_number bigint check (start_number >= 0),
  -- The last processed block, and how far up to it the nodes' tags and the nodes' agreement reach.
  latest_number bigint,
  latest_hash text collate "C",
  safe_number bigint check (safe_number <= latest_number),
  finalized_number bigint check (finalized_number <= latest_number),
  agreed_number bigint check (agreed_number <= latest_number),
  -- When the latest poll that found every block processed began: expiry waits for it. Native coin that a contract sends
  -- is looked for apart, by balances, and may be found later.
  caught_up_at timestamptz(3),
  coins_caught_up_at timestamptz(3),
  -- One process reads the chain at a time. Every write names the token it was given with the lease.
  lease_holder text,
  lease_until timestamptz(3),
  fence bigint not null default 0 check (fence >= 0),
  halted_at timestamptz(3),
  halt_reason text check (length(halt_reason) <= 1000),
  -- The operator's word after a halt, until it is carried out: the blocks above this one are to be undone.
  rollback_to bigint check (rollback_to >= 0),
  check ((latest_number is null) = (latest_hash is null)),
  check ((latest_number is null) = (start_number is null)),
  check (latest_number >= start_number - 1),
  check ((halted_at is null) = (halt_reason is null)),
  check ((lease_holder is null) = (lease_until is null))
);

create trigger chains_fence before update of fence on chains for each row
  when (new.fence < old.fence) execute function refuse_change('counting down');

-- The recent blocks, and all in which funds arrived. A reorg marks blocks, it never removes them.
create table blocks (
  caip2 text collate "C" not null references chains,
  hash text collate "C" not null check (length(hash) <= 66),
  number bigint not null check (number >= 0),
  parent_hash text collate "C" not null check (length(parent_hash) <= 66),
  timestamp timestamptz(3) not null,
  canonical boolean not null,
  -- Nothing of ours moved in it: it can be forgotten once no reorg reaches that far down.
  empty boolean not null,
  primary key (caip2, hash),
  -- What transfers refer to, so that none can be canonical in a block that is not.
  unique (caip2, hash, canonical)
);
create unique index blocks_canonical on blocks (caip2, number) where canonical;
create index blocks_empty on blocks (caip2, number) where empty;

-- Funds that reached the address of a payment. Those of another token or chain than was asked for are strays.
create table transfers (
  caip2 text collate "C" not null,
  -- Identity within the chain: mined again in another block, it is another transfer.
  key text collate "C" not null check (length(key) between 1 and 160),
  account_id text collate "C" not null,
  environment environment not null,
  payment_id text collate "C" not null,
  stray boolean not null,
  -- Null: the native coin.
  contract text collate "C",
  -- Null: sent by a contract and found by the balance.
  tx_hash text collate "C" check (length(tx_hash) <= 66),
  sender text collate "C",
  amount base_units not null check (amount > 0),
  block_hash text collate "C" not null,
  block_number bigint not null,
  canonical boolean not null,
  verified boolean not null,
  -- Final while the payment stood completed.
  settled boolean not null default false,
  -- The stray's event is written.
  told boolean not null default false,
  -- Of its transaction, in whatever block that was seen first.
  first_seen_at timestamptz(3) not null,
  primary key (caip2, key),
  foreign key (account_id, environment, payment_id) references payments,
  foreign key (caip2, block_hash, canonical) references blocks (caip2, hash, canonical) on update cascade,
  check (stray or not told),
  check (not (stray and settled))
);
-- A payment shows the largest of each kind, however many there are.
create index transfers_payment on transfers (account_id, environment, payment_id, stray, amount desc, key);
create index transfers_untold on transfers (account_id, environment, payment_id, block_number, key)
  where stray and canonical and not told;
create index transfers_block on transfers (caip2, block_number, block_hash);
-- By both columns: by the first alone, the planner of a young table reads the whole chain beside it, for each transfer.
create index transfers_transaction on transfers (tx_hash, caip2);
create index transfers_unverified on transfers (caip2, block_number) where canonical and not verified;

create trigger transfers_frozen before update on transfers for each row
  when (
    (old.caip2, old.key, old.account_id, old.environment, old.payment_id, old.stray, old.contract, old.tx_hash,
     old.sender, old.amount, old.block_hash, old.block_number, old.first_seen_at)
    is distinct from
    (new.caip2, new.key, new.account_id, new.environment, new.payment_id, new.stray, new.contract, new.tx_hash,
     new.sender, new.amount, new.block_hash, new.block_number, new.first_seen_at)
  )
  execute function refuse_change('a change');

-- Funds that left a payment's address for its treasury. Anybody may forward them, even in the block they arrived in.
create table forwards (
  caip2 text collate "C" not null,
  key text collate "C" not null check (length(key) between 1 and 160),
  account_id text collate "C" not null,
  environment environment not null,
  payment_id text collate "C" not null,
  contract text collate "C",
  amount base_units not null check (amount > 0),
  block_hash text collate "C" not null,
  block_number bigint not null,
  canonical boolean not null,
  -- What left an address is added to what it holds when coin is looked for by the balance, so that a forward which one
  -- node made up would be credited. It counts once it is checked against more than the one answer that told of it.
  verified boolean not null,
  primary key (caip2, key),
  foreign key (account_id, environment, payment_id) references payments,
  foreign key (caip2, block_hash, canonical) references blocks (caip2, hash, canonical) on update cascade
);
create index forwards_payment on forwards (account_id, environment, payment_id);
create index forwards_block on forwards (caip2, block_number);
create index forwards_unverified on forwards (caip2, block_number) where canonical and not verified;

-- What decisions remember of a payment beside its words, and the height of its chain that wakes it.
alter table payments
  add column detected boolean not null default false,
  add column strayed boolean not null default false,
  -- More strays came than were told at once: the rest follows.
  add column untold boolean not null default false,
  add column time_ended_at timestamptz(3),
  -- The block in which the funds reached what is needed: confirmations count from it.
  add column covered_number bigint,
  add column wake_frontier text check (wake_frontier in ('latest', 'safe', 'finalized', 'agreed')),
  add column wake_number bigint,
  add check ((wake_frontier is null) = (wake_number is null));
create index payments_wake_number on payments (caip2, wake_frontier, wake_number) where wake_number is not null;
create index payments_untold on payments (id) where untold;

-- Native coin that a contract sends shows in no log and no transaction: the balances of these are looked at.
create index payments_open_coins on payments (caip2, id)
  where contract is null and status in ('pending', 'confirming', 'reversed');

-- Time passes for a payment as far as its chain is read, for coins and for tokens apart.
drop index payments_wake;
create index payments_wake on payments (caip2, (contract is null), wake_at) where wake_at is not null;

-- How far a chain is read is the chain's; a network adds what it measured and the currencies it had to refuse.
alter table network_status
  drop column caught_up_at,
  add column disabled_currencies jsonb not null default '{}' check (jsonb_typeof(disabled_currencies) = 'object');

-- Each block's recipients are looked up among all addresses ever given out. By its hash one is found with a page or two,
-- however many there are; a tree has more levels then, and 1,000 look-ups among a million took twice as long.
drop index payments_address;
alter table payments add constraint payments_address exclude using hash (address with =);
