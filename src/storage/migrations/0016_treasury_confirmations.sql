-- A contract that receives swept money, confirmed with the code that it had: other code at the address is another contract.
-- Contracts that were verified before have to be confirmed once more.
create table treasury_confirmations (
  account_id text collate "C" not null,
  environment environment not null,
  network text not null,
  treasury text collate "C" not null,
  code_hash text collate "C" not null check (code_hash ~ '^[0-9a-f]{64}$'),
  confirmed_at timestamptz(3) not null default clock_timestamp(),
  confirmed_by text not null check (length(confirmed_by) between 1 and 320),
  primary key (account_id, environment, network, treasury, code_hash),
  foreign key (account_id) references accounts
);
