-- Reads of the whole audit log, apart from the locks of the migration before.

-- The makers of earlier keys.
update api_keys k set created_by = a.actor_id
from audit_log a join people p on p.id = a.actor_id
where a.account_id = k.account_id and a.actor_kind = 'person'
  and (a.action = 'key.created' and a.subject = k.id
    or a.action = 'key.rotated' and a.detail ->> 'successorId' = k.id);

alter table audit_log validate constraint audit_log_actor_name_check;
