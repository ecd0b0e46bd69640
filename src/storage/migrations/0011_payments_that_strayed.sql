-- What the dashboard says of wrong tokens and of sessions that ended.

-- Written when the first stray of a payment is told. Creating a payment writes nothing here, and no other update does.
create index payments_strayed on payments (account_id, environment, id) where strayed;

-- Why a session ended, for the browser that still has its token. Rows go once the cookie is gone.
create table ended_sessions (
  token_hash bytea primary key check (length(token_hash) = 32),
  reason text collate "C" not null
    check (reason in ('signed_out', 'ended', 'password_changed', 'role_changed', 'removed', 'too_many')),
  ended_at timestamptz(3) not null default clock_timestamp()
);
create index ended_sessions_due on ended_sessions (ended_at);
