-- The newest block that was known when a payment got an address of an extended public key. Anybody can send to such an
-- address before; nothing up to this block can be for the payment. Null for forwarders, whose addresses nobody knows
-- before, and for payments of before. Not validated: all of those are null, and reading them would block other work.
alter table payments
  add column head_number bigint,
  add constraint payments_head_number_check check (head_number is null or (head_number >= 0 and wallet_kind = 'xpub')) not valid;
drop trigger payments_frozen on payments;
create trigger payments_frozen before update on payments for each row
  when (
    (old.account_id, old.environment, old.id, old.amount, old.decimals, old.currency, old.network, old.caip2, old.contract,
     old.address, old.wallet_kind, old.treasury, old.derivation_index, old.mac, old.tiers, old.tolerance_bps,
     old.dust_floor, old.late_policy, old.late_window_seconds, old.description, old.metadata, old.callback_url,
     old.redirect_url, old.external_id, old.head_number, old.created_at, old.expires_at)
    is distinct from
    (new.account_id, new.environment, new.id, new.amount, new.decimals, new.currency, new.network, new.caip2, new.contract,
     new.address, new.wallet_kind, new.treasury, new.derivation_index, new.mac, new.tiers, new.tolerance_bps,
     new.dust_floor, new.late_policy, new.late_window_seconds, new.description, new.metadata, new.callback_url,
     new.redirect_url, new.external_id, new.head_number, new.created_at, new.expires_at)
    or new.sequence < old.sequence
    or (old.canceled_at is not null and new.canceled_at is distinct from old.canceled_at)
  )
  execute function refuse_change('a change of frozen terms');
