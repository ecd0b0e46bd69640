-- Tries at the password of one person from devices that never signed them in, whatever addresses they came from.
create table guess_budgets (
  -- Hash of the e-mail address, known or not.
  subject bytea primary key check (length(subject) = 32),
  -- Tries that are not forgotten yet. They drain with time, so the number is no integer.
  tries double precision not null check (tries >= 0),
  -- How many addresses failed for the first time since the budget was last unused.
  addresses integer not null check (addresses >= 0),
  counted_at timestamptz(3) not null,
  -- When the audit log was told that guesses come from many addresses; null before that.
  noticed_at timestamptz(3)
);
create index guess_budgets_old on guess_budgets (counted_at);

-- Until when a proof with a passkey or a code counts. A password alone does not set it.
alter table sessions add column strongly_proven_until timestamptz(3);
