-- The trace of the request that caused the event, which its webhooks carry on. Null for events with another cause. No seal
-- covers it: nothing is decided by it.
alter table events add column trace text check (trace ~ '^[0-9a-f]{32}-0[01]$');
