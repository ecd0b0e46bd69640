-- Two owners stand behind a change of a wallet, or a day lies between it and a change of owners or their sign-in.

-- Null for everybody else, and for owners whom an older Florin beside this one adds: those approve nothing.
alter table memberships add column owner_since timestamptz(3);
update memberships m set owner_since = coalesce(
    (select max(a.at) from audit_log a where a.account_id = m.account_id and a.subject = m.person_id
      and a.action = 'person.role_changed' and a.detail ->> 'to' = 'owner'),
    m.created_at)
  where m.role = 'owner' and m.removed_at is null;

-- The people behind a change that waits: whoever asked for it, and whoever approved it.
create table wallet_approvals (
  account_id text collate "C" not null,
  environment environment not null,
  network text not null,
  version integer not null,
  person_id text collate "C" not null,
  approved_at timestamptz(3) not null default clock_timestamp(),
  approved_by text not null check (length(approved_by) between 1 and 500),
  primary key (account_id, environment, network, version, person_id),
  foreign key (account_id, environment, network, version) references wallets,
  foreign key (account_id, person_id) references memberships (account_id, person_id)
);
