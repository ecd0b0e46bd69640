-- What the database does for a transfer and an event is done once for each.

-- Each transfer is marked as settled once. With room for that beside all of a page's rows, no index is written for it.
alter table transfers set (fillfactor = 50);

-- An event belongs to the account of its payment, and a delivery to that of its event. To look the account up for each of
-- them again costs as much as the row. Only events without a payment have nothing else that proves their account.
alter table deliveries drop constraint deliveries_account_id_fkey;
alter table events drop constraint events_account_id_fkey;
-- Deltas follow from the same facts, and are added to totals that refer to the account.
alter table payment_deltas drop constraint payment_deltas_account_id_fkey;
alter table volume_deltas drop constraint volume_deltas_account_id_fkey;
alter table holding_deltas drop constraint holding_deltas_account_id_fkey;
alter table ledger_deltas drop constraint ledger_deltas_account_id_fkey;
create function require_account() returns trigger language plpgsql as $$
begin
  perform from accounts where id = new.account_id for key share;
  if found then return null; end if;
  raise exception 'florin: account % does not exist', new.account_id using errcode = 'foreign_key_violation';
end $$;
create trigger events_of_account after insert or update of account_id on events for each row
  when (new.payment_id is null) execute function require_account();

-- The same rule. A strict function with `or` in it is called for each row; this one becomes part of the check.
create or replace function legal_edge(a payment_status, b payment_status) returns boolean
  language sql immutable parallel safe
  return (a = 'pending' and b in ('confirming', 'expired', 'canceled'))
    or (a = 'confirming' and b in ('completed', 'pending', 'expired', 'reversed'))
    or (a in ('expired', 'canceled', 'reversed') and b = 'confirming')
    or (a = 'completed' and b = 'reversed');
