-- Deliveries are sent: whom each goes to, who is on it, what came of every attempt, and when to stop.

-- Each is claimed before it is sent. With room for that beside all of a page's rows, no index is written for it.
alter table deliveries set (fillfactor = 50);
alter table deliveries
  -- What is slow or fails together: an endpoint, or all callbacks of an account to one server.
  add column target text collate "C" not null
    generated always as (coalesce(endpoint_id, substring(callback_url from '^[^:]+://[^/?#]*'))) stored,
  -- Failures since it was scheduled anew: its place in the retry schedule.
  add column failures smallint not null default 0 check (failures >= 0),
  -- Goes up with each claim, so that one who lost his can change nothing.
  add column claim bigint not null default 0 check (claim >= 0),
  add column claimed_by text,
  add column claimed_until timestamptz(3),
  add column parked_reason text,
  add column finished_at timestamptz(3),
  add check ((status = 'parked') = (parked_reason is not null)),
  add check ((status = 'scheduled') = (finished_at is null)),
  add check ((claimed_by is null) = (claimed_until is null)),
  add check (status = 'scheduled' or claimed_until is null);

-- A target's first attempts apart from its retries: neither waits for the other.
drop index deliveries_due;
create index deliveries_due on deliveries (account_id, environment, target, (least(failures, 1)), next_attempt_at)
  where status = 'scheduled';
create index deliveries_endpoint on deliveries (account_id, environment, endpoint_id, status, id)
  where endpoint_id is not null;
create index deliveries_finished on deliveries (finished_at) where status = 'succeeded';
create index events_type on events (type, account_id, environment, id);

-- One row an attempt. The body that was sent is the event's own.
create table delivery_attempts (
  account_id text collate "C" not null,
  environment environment not null,
  delivery_id text collate "C" not null,
  -- Of the claim it was made under, so that none is written twice.
  claim bigint not null check (claim > 0),
  at timestamptz(3) not null,
  url text not null,
  signature text not null,
  status_code smallint check (status_code between 100 and 999),
  error text,
  duration_ms integer not null check (duration_ms >= 0),
  response bytea not null check (length(response) <= 16384),
  primary key (account_id, environment, delivery_id, claim),
  foreign key (account_id, environment, delivery_id) references deliveries on delete cascade
);
create trigger delivery_attempts_frozen before update on delivery_attempts for each row
  execute function refuse_change('a change');

-- A receiver that answers 410 to a payment's callback wants no more of that payment.
create table stopped_callbacks (
  account_id text collate "C" not null,
  environment environment not null,
  payment_id text collate "C" not null,
  stopped_at timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, environment, payment_id),
  foreign key (account_id, environment, payment_id) references payments
);

alter table webhook_endpoints
  -- Since when an endpoint has done nothing but fail.
  add column failing_since timestamptz(3),
  -- When it last did, give or take an hour: where nothing was sent for long, nothing is known of that time.
  add column failed_at timestamptz(3);

-- A hint for whoever delivers: which targets have something new. Whoever misses it finds it by looking.
create function announce_deliveries() returns trigger language plpgsql as $$
begin
  perform pg_notify('florin_deliveries', concat_ws(' ', account_id, environment, target))
  from (select distinct account_id, environment, target from added) as targets;
  return null;
end $$;
create trigger deliveries_announced after insert on deliveries referencing new table as added
  for each statement execute function announce_deliveries();
