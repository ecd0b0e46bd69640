-- A person's own row says which sessions they have, as it says which passkeys: to put back the row of a session that ended
-- opens nothing. Null for none.
alter table people
  add column session_ids text[] collate "C" check (cardinality(session_ids) > 0),
  -- Goes up with each change, so that an earlier row that was put back shows. Null in rows that never changed.
  add column revision bigint check (revision > 0);

update people p set session_ids = (select array_agg(s.id order by s.id) from sessions s where s.person_id = p.id);

-- That the contract at a treasury belongs to the merchant lets money go there.
alter table treasury_confirmations add column row_seal bytea check (length(row_seal) = 32);
