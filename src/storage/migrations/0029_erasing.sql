-- The personal texts of a payment that has ended can be erased, in its row, its events and its deliveries. Texts can only go
-- away: nothing else of these rows changes, and no other text takes their place.

drop trigger payments_frozen on payments;
create trigger payments_frozen before update on payments for each row
  when (
    (old.account_id, old.environment, old.id, old.amount, old.decimals, old.currency, old.network, old.caip2, old.contract,
     old.address, old.wallet_kind, old.treasury, old.derivation_index, old.tiers, old.tolerance_bps,
     old.dust_floor, old.late_policy, old.late_window_seconds, old.head_number, old.created_at, old.expires_at)
    is distinct from
    (new.account_id, new.environment, new.id, new.amount, new.decimals, new.currency, new.network, new.caip2, new.contract,
     new.address, new.wallet_kind, new.treasury, new.derivation_index, new.tiers, new.tolerance_bps,
     new.dust_floor, new.late_policy, new.late_window_seconds, new.head_number, new.created_at, new.expires_at)
    or ((old.description, old.metadata, old.callback_url, old.redirect_url, old.external_id)
        is distinct from (new.description, new.metadata, new.callback_url, new.redirect_url, new.external_id)
      and (
        new.status in ('pending', 'confirming')
        or (new.description is not null and new.description is distinct from old.description)
        or (new.metadata <> '{}' and new.metadata <> old.metadata)
        or (new.callback_url is not null and new.callback_url is distinct from old.callback_url)
        or (new.redirect_url is not null and new.redirect_url is distinct from old.redirect_url)
        or (new.external_id is not null and new.external_id is distinct from old.external_id)
      ))
    or new.sequence < old.sequence
    or (old.canceled_at is not null and new.canceled_at is distinct from old.canceled_at)
  )
  execute function refuse_change('a change of frozen terms');

-- Values are compared as they are written: jsonb would refuse some numbers of metadata. The escape \u0000 is refused by json, too.
create function is_erased_body(former text, erased text) returns boolean
  language sql immutable strict parallel safe
  return not exists (
    select from json_each(replace(former, '\u0000', '\u0001')::json) with ordinality o(key, value, at)
      full join json_each(replace(erased, '\u0000', '\u0001')::json) with ordinality n(key, value, at) on o.at = n.at
    where (o.key, o.value::text) is distinct from (n.key, n.value::text)
      and (o.key = 'data' and n.key = 'data') is not true
  ) and not exists (
    select from json_each(replace(former, '\u0000', '\u0001')::json -> 'data') with ordinality o(key, value, at)
      full join json_each(replace(erased, '\u0000', '\u0001')::json -> 'data') with ordinality n(key, value, at) on o.at = n.at
    where (o.key, o.value::text) is distinct from (n.key, n.value::text)
      and (o.key = n.key and (n.key, n.value::text) in (('description', 'null'), ('metadata', '{}'), ('callbackUrl', 'null'),
        ('redirectUrl', 'null'), ('externalId', 'null'))) is not true
  );

drop trigger events_frozen on events;
create trigger events_frozen before update on events for each row
  when (old.row_seal is not distinct from new.row_seal
    or (to_jsonb(old) - '{row_seal,body}'::text[]) is distinct from (to_jsonb(new) - '{row_seal,body}'::text[])
    or (old.body <> new.body and (new.payment_id is null or not is_erased_body(old.body, new.body))))
  execute function refuse_change('a change');

-- What a receiver answered goes after a while, or when the payment is erased; its address is then cut to the server.
drop trigger delivery_attempts_frozen on delivery_attempts;
create trigger delivery_attempts_frozen before update on delivery_attempts for each row
  when ((to_jsonb(old) - '{response,url}'::text[]) is distinct from (to_jsonb(new) - '{response,url}'::text[])
    or (new.response <> old.response and length(new.response) > 0)
    or (new.url <> old.url and new.url <> delivery_target(null, old.url)))
  execute function refuse_change('a change');
create index delivery_attempts_answered on delivery_attempts (at) where length(response) > 0;
