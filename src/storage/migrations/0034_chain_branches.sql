-- Each time the reading of a chain begins anew, and with each reorganization, the chain begins a branch. A block that a node
-- showed in an earlier branch, above the height from which a later one was read, counts only when a node shows it again.
-- Blocks say themselves whether they are canonical, and any row of a payment could be put back: this says what was lost.
create table chain_branches (
  caip2 text collate "C" not null references chains,
  -- Milliseconds since 1970, or one more than the branch before: a number is not used twice, even if rows were removed.
  number bigint not null check (number > 0),
  -- The branch before. Null for the first one.
  previous bigint check (previous < number),
  -- Blocks above this height were read anew.
  above bigint not null check (above >= -1),
  -- In the first branch, the blocks with transfers that reorganizations had orphaned before.
  orphans text[] collate "C" check (cardinality(orphans) > 0),
  row_seal bytea check (length(row_seal) = 32),
  primary key (caip2, number),
  foreign key (caip2, previous) references chain_branches
);
create trigger chain_branches_frozen before update on chain_branches for each row
  when ((to_jsonb(old) - 'row_seal') is distinct from (to_jsonb(new) - 'row_seal'))
  execute function refuse_change('a change');
create trigger chain_branches_undeleted before delete on chain_branches for each row
  execute function refuse_change('a change');
create trigger chain_branches_kept before truncate on chain_branches for each statement
  execute function refuse_change('a change');

-- The newest branch of a chain, and the one in which a node showed the block last. Null in older rows.
alter table chains add column branch bigint check (branch > 0);
alter table blocks add column branch bigint check (branch > 0);

create index blocks_orphaned on blocks (caip2) where not canonical;
