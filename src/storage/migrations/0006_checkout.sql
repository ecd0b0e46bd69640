-- The checkout: pages that anybody opens by a payment's id alone.

-- Ids are random enough to be one over all tenants; now that a page is found by nothing else, the database holds them to it.
create unique index payments_id on payments (id);

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
