-- Keys act in the audit log, and accepting an amount is a permission of its own. Keys made earlier keep what they could do.
alter table audit_log drop constraint audit_log_actor_kind_check;
alter table audit_log add constraint audit_log_actor_kind_check
  check (actor_kind = any (array['key', 'person', 'operator', 'system'])) not valid;
alter table audit_log validate constraint audit_log_actor_kind_check;

alter table api_keys drop constraint api_keys_scopes_check;
update api_keys set scopes = array(
    select scope from unnest(array['payments:read', 'payments:write', 'payments:resolve', 'webhooks:read', 'webhooks:write'])
      with ordinality as s(scope, place)
    where scope = any(scopes) or scope = 'payments:resolve' order by place
  )
  where 'payments:write' = any(scopes);
alter table api_keys add constraint api_keys_scopes_check check (
  cardinality(scopes) > 0
  and scopes <@ array['payments:read', 'payments:write', 'payments:resolve', 'webhooks:read', 'webhooks:write']
);
