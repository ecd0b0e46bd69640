-- expand

-- Which release each process is of, so that an upgrade ends only when no older one runs. `knows` is the newest migration that
-- the process knows. A process of the release before this migration changes `seen_at` alone: then `knows` is of another one.
alter table key_holders
  add column knows integer check (knows > 0),
  add column knows_at timestamptz(3),
  add column roles text check (length(roles) between 1 and 100),
  add column started_at timestamptz(3);
