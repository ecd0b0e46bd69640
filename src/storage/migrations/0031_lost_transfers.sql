-- The keys of transfers that a reorganization took from a payment, separated by spaces. Blocks say themselves whether they are
-- canonical, so whoever writes to the database could put an orphaned block back. What a payment lost is sealed with it, and
-- counts again only when the block comes back from the chain.
alter table payments add column lost_transfers text;
