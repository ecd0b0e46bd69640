-- A rotation of the master key makes anew what was made with the key. What these values cover stays frozen.

-- Which keys each process holds, so that a rotation waits for processes that do not have the next one.
create table key_holders (
  holder text collate "C" primary key check (length(holder) between 1 and 100),
  makes text not null check (length(makes) = 32),
  accepts text check (length(accepts) = 32),
  seen_at timestamptz(3) not null
);

drop trigger audit_log_frozen on audit_log;
create trigger audit_log_frozen before update on audit_log for each row
  when ((to_jsonb(old) - '{hash,previous_hash}'::text[]) is distinct from (to_jsonb(new) - '{hash,previous_hash}'::text[]))
  execute function refuse_change('a change');
create trigger audit_log_undeleted before delete on audit_log for each row execute function refuse_change('a change');

drop trigger payments_frozen on payments;
create trigger payments_frozen before update on payments for each row
  when (
    (old.account_id, old.environment, old.id, old.amount, old.decimals, old.currency, old.network, old.caip2, old.contract,
     old.address, old.wallet_kind, old.treasury, old.derivation_index, old.tiers, old.tolerance_bps,
     old.dust_floor, old.late_policy, old.late_window_seconds, old.description, old.metadata, old.callback_url,
     old.redirect_url, old.external_id, old.head_number, old.created_at, old.expires_at)
    is distinct from
    (new.account_id, new.environment, new.id, new.amount, new.decimals, new.currency, new.network, new.caip2, new.contract,
     new.address, new.wallet_kind, new.treasury, new.derivation_index, new.tiers, new.tolerance_bps,
     new.dust_floor, new.late_policy, new.late_window_seconds, new.description, new.metadata, new.callback_url,
     new.redirect_url, new.external_id, new.head_number, new.created_at, new.expires_at)
    or new.sequence < old.sequence
    or (old.canceled_at is not null and new.canceled_at is distinct from old.canceled_at)
  )
  execute function refuse_change('a change of frozen terms');
