-- Coin found by the balance in a block that a reorg took was concluded from all that was known then. It does not hold again
-- with its block: what is there is found anew.
alter table transfers
  add column superseded boolean not null default false,
  add check (tx_hash is null or not superseded),
  -- The key of such coin names its amount, too.
  drop constraint transfers_key_check,
  add constraint transfers_key_check check (length(key) between 1 and 200);
