-- Terms that are frozen with new payments, and decisions about transfers that cannot be verified.

-- Sums below this and below 1 % of the amount are dust. Payments of before keep their terms: nothing is dust to them.
-- Not of the domain base_units: a column whose type has a check makes PostgreSQL write the whole table anew.
alter table payments
  add column dust_floor numeric(60, 0) not null default 0,
  add constraint payments_dust_floor_check check (dust_floor >= 0 and dust_floor <= 1e54);
drop trigger payments_frozen on payments;
create trigger payments_frozen before update on payments for each row
  when (
    (old.account_id, old.environment, old.id, old.amount, old.decimals, old.currency, old.network, old.caip2, old.contract,
     old.address, old.wallet_kind, old.treasury, old.derivation_index, old.mac, old.tiers, old.tolerance_bps,
     old.dust_floor, old.late_policy, old.late_window_seconds, old.description, old.metadata, old.callback_url,
     old.redirect_url, old.external_id, old.created_at, old.expires_at)
    is distinct from
    (new.account_id, new.environment, new.id, new.amount, new.decimals, new.currency, new.network, new.caip2, new.contract,
     new.address, new.wallet_kind, new.treasury, new.derivation_index, new.mac, new.tiers, new.tolerance_bps,
     new.dust_floor, new.late_policy, new.late_window_seconds, new.description, new.metadata, new.callback_url,
     new.redirect_url, new.external_id, new.created_at, new.expires_at)
    or new.sequence < old.sequence
    or (old.canceled_at is not null and new.canceled_at is distinct from old.canceled_at)
  )
  execute function refuse_change('a change of frozen terms');

-- Null: by currency. Late tokens are accepted, late native coin waits for a decision. Every change of a setting has a row
-- in the audit log, so 'accept' without such a row is the old default, which nobody chose. Existing payments keep their terms.
alter table account_settings
  alter column late_policy drop not null,
  alter column late_policy drop default;
update account_settings s set late_policy = null
where s.late_policy = 'accept' and not exists (
  select from audit_log a
  where a.account_id = s.account_id and a.environment = s.environment and a.action = 'settings.changed'
    and a.detail -> 'latePolicy' is not null
);

-- Transfers that an operator or an owner called real although Florin could not verify them. A row is never changed; a
-- transfer that a reorg removes takes nothing from it.
create table transfer_decisions (
  caip2 text collate "C" not null,
  key text collate "C" not null,
  account_id text collate "C" not null,
  environment environment not null,
  payment_id text collate "C" not null,
  decided_at timestamptz(3) not null default clock_timestamp(),
  decided_by text not null check (length(decided_by) between 1 and 320),
  reason text not null check (length(reason) between 1 and 1000),
  primary key (caip2, key),
  foreign key (caip2, key) references transfers,
  foreign key (account_id, environment, payment_id) references payments
);
create index transfer_decisions_payment on transfer_decisions (account_id, environment, payment_id);
create trigger transfer_decisions_frozen before update or delete on transfer_decisions for each row
  execute function refuse_change('a change');
create trigger transfer_decisions_kept before truncate on transfer_decisions for each statement
  execute function refuse_change('a change');
