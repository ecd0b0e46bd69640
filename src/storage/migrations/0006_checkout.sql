-- The checkout: pages that anybody opens by a payment's id alone.

-- Ids are random enough to be one over all tenants; now that a page is found by nothing else, the database holds them to it.
-- Nothing can be created while this is built, so that who has very many payments may have built it before, concurrently.
create unique index if not exists payments_id on payments (id);

do $$
begin
  -- What is left of a concurrent build that failed has the name, and holds nothing to it.
  if not (select i.indisvalid and i.indisunique and pg_get_indexdef(i.indexrelid) like '% ON public.payments USING btree (id)'
    from pg_index i where i.indexrelid = 'payments_id'::regclass)
  then
    raise exception 'the index payments_id is not the one that is needed: drop it and try again';
  end if;
end $$;

-- An origin as browsers write it, and nothing that could end the header it is put into. No wildcards: whoever may frame the
-- page is named.
create function are_https_origins(origins text[]) returns boolean
  language sql immutable strict parallel safe
  return not exists (
    select from unnest(origins) as o(origin)
    where o.origin is null or length(o.origin) > 300
      or o.origin !~ '^https://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?$'
  );

alter table account_settings
  -- Origins whose pages may show the checkout in a frame.
  add column checkout_origins text[] not null default '{}'
    check (cardinality(checkout_origins) <= 20 and are_https_origins(checkout_origins));
