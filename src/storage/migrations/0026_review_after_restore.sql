-- A restored copy may contain a revoked key, a removed member, an earlier wallet or endpoint. Production of an account stays
-- closed until somebody has looked at them.
create table restore_reviews (
  account_id text collate "C" not null,
  requested_at timestamptz(3) not null default clock_timestamp(),
  reviewed_at timestamptz(3),
  reviewed_by text check (length(reviewed_by) between 1 and 500),
  row_seal bytea check (length(row_seal) = 32),
  primary key (account_id, requested_at),
  foreign key (account_id) references accounts,
  check ((reviewed_at is null) = (reviewed_by is null))
);
create index restore_reviews_open on restore_reviews (account_id, requested_at) where reviewed_at is null;
