-- What the database does for a delivery is done once for each, or not at all: claiming and recording touch it often.

-- What is slow or fails together: an endpoint, or all callbacks of an account to one server. Not a generated column: the
-- server prepares its expression anew for each row that changes.
create function delivery_target(endpoint_id text, callback_url text) returns text
  language sql immutable parallel safe
  return coalesce(endpoint_id, substring(callback_url from '^[^:]+://[^/?#]*'));

drop index deliveries_due;
alter table deliveries drop column target;
-- A target's first attempts apart from its retries: neither waits for the other.
create index deliveries_due on deliveries
  (account_id, environment, delivery_target(endpoint_id, callback_url), (least(failures, 1)), next_attempt_at)
  where status = 'scheduled';
drop index deliveries_endpoint;
create index deliveries_endpoint on deliveries (endpoint_id, status, id) where endpoint_id is not null;
-- What waits for somebody to act, callbacks included. A delivery that succeeds never gets an entry.
create index deliveries_parked on deliveries (account_id, environment, id) where status = 'parked';

create or replace function announce_deliveries() returns trigger language plpgsql as $$
begin
  perform pg_notify('florin_deliveries', concat_ws(' ', account_id, environment, target))
  from (select distinct account_id, environment, delivery_target(endpoint_id, callback_url) as target from added) as targets;
  return null;
end $$;

-- What follows from event and receiver is looked at when they are given, not with each claim.
alter table deliveries drop constraint deliveries_check, drop constraint deliveries_id_check;
create trigger deliveries_named after insert or update of id, event_id, endpoint_id, callback_url on deliveries for each row
  when (delivery_target(new.endpoint_id, new.callback_url) is null
    or new.id <> delivery_id(new.event_id, coalesce(new.endpoint_id, 'callback')))
  execute function refuse_change('such an id or address');

-- A foreign key would look up the delivery of each attempt again, which costs as much as the row: whoever writes an
-- attempt holds its delivery, and whoever removes that removes them with it.
alter table delivery_attempts drop constraint delivery_attempts_account_id_environment_delivery_id_fkey;
-- With the rights of the owner: the service itself may remove no attempt. What was written since the delete began is seen.
create function remove_attempts() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from public.delivery_attempts a using removed r
  where a.account_id = r.account_id and a.environment = r.environment and a.delivery_id = r.id;
  return null;
end $$;
create trigger deliveries_removed after delete on deliveries referencing old table as removed
  for each statement execute function remove_attempts();
