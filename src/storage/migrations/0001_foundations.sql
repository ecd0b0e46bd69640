-- Foundations: accounts, keys, wallets, payments, events, webhook endpoints, deliveries, totals.
-- Everything a tenant owns carries (account_id, environment) first in its key, so no join can cross tenants and the
-- tables are ready to be distributed by it. Times have millisecond precision. Amounts are integers in base units.

create type environment as enum ('production', 'sandbox');
create type plan as enum ('sandbox', 'starter', 'growth', 'enterprise');
create type payment_status as enum ('pending', 'confirming', 'completed', 'expired', 'canceled', 'reversed');
create type payment_exception as enum ('underpaid', 'overpaid', 'late', 'reorged');

-- The same list as legalEdges in src/core/payment/states.ts; a test compares the two.
create function legal_edge(a payment_status, b payment_status) returns boolean
  language sql immutable strict parallel safe
  return (a = 'pending' and b in ('confirming', 'expired', 'canceled'))
    or (a = 'confirming' and b in ('completed', 'pending', 'expired', 'reversed'))
    or (a in ('expired', 'canceled', 'reversed') and b = 'confirming')
    or (a = 'completed' and b = 'reversed');

-- CHECK (n > 0) alone accepts NaN and Infinity; the upper bound refuses both.
create domain base_units as numeric(60, 0) check (value >= 0 and value <= 1e54);

create table deployment (
  name text primary key,
  value text not null
);

create table accounts (
  id text collate "C" primary key check (id like 'acct\_%' and length(id) = 31),
  name text not null check (length(name) between 1 and 200),
  plan plan not null,
  rate_limit integer check (rate_limit between 1 and 10000000),
  burst integer check (burst between 0 and 10000000),
  created_at timestamptz(3) not null default clock_timestamp(),
  check (plan = 'enterprise' or (rate_limit is null and burst is null))
);

create table account_settings (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  tolerance_bps smallint not null default 0 check (tolerance_bps between 0 and 500),
  late_policy text not null default 'accept' check (late_policy in ('accept', 'manual')),
  late_window_seconds integer not null default 2592000 check (late_window_seconds between 0 and 315360000),
  callback_secret bytea not null,
  primary key (account_id, environment)
);

create table api_keys (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  id text collate "C" not null check (id like 'key\_%' and length(id) = 30),
  name text not null check (length(name) <= 200),
  hash bytea not null unique check (length(hash) = 32),
  hint text not null check (length(hint) <= 24),
  scopes text[] not null check (
    cardinality(scopes) > 0
    and scopes <@ array['payments:read', 'payments:write', 'webhooks:read', 'webhooks:write']
  ),
  ip_allow cidr[] check (cardinality(ip_allow) > 0),
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  successor_id text collate "C",
  primary key (account_id, environment, id),
  unique (id),
  foreign key (account_id, environment, successor_id) references api_keys
);

-- Where a network's money goes. A change is a new row: payments froze the one they were created with.
create table wallets (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  network text not null,
  version integer not null check (version > 0),
  kind text not null check (kind in ('forwarder', 'xpub')),
  destination text not null check (length(destination) between 20 and 200),
  mac bytea not null check (length(mac) = 32),
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (account_id, environment, network, version)
);

-- The next unused derivation index of a series. Only ever counts up: see the trigger.
create table derivation_counters (
  series text collate "C" primary key,
  next bigint not null check (next >= 0)
);

create table payments (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  id text collate "C" not null check (id like 'pay\_%' and length(id) = 30),
  status payment_status not null default 'pending',
  exception payment_exception,
  amount base_units not null check (amount > 0),
  amount_received base_units not null default 0,
  amount_confirmed base_units not null default 0,
  -- The latest sum the merchant accepted as the whole payment, and when.
  amount_accepted base_units check (amount_accepted > 0),
  accepted_at timestamptz(3),
  decimals smallint not null check (decimals between 0 and 36),
  currency text collate "C" not null check (length(currency) between 1 and 20),
  network text collate "C" not null check (length(network) between 1 and 40),
  caip2 text collate "C" not null,
  contract text collate "C",
  address text collate "C" not null,
  wallet_kind text not null check (wallet_kind in ('forwarder', 'xpub')),
  treasury text collate "C" not null,
  derivation_index bigint not null check (derivation_index >= 0),
  mac bytea not null check (length(mac) = 32),
  -- Confirmation rules by sum: [{atLeast, kind, depth}], base units as text.
  tiers jsonb not null check (jsonb_array_length(tiers) > 0),
  tolerance_bps smallint not null check (tolerance_bps between 0 and 500),
  late_policy text not null check (late_policy in ('accept', 'manual')),
  late_window_seconds integer not null check (late_window_seconds >= 0),
  description text check (length(description) <= 1000),
  metadata text not null check (octet_length(metadata) <= 16384),
  callback_url text check (length(callback_url) <= 2048),
  redirect_url text check (length(redirect_url) <= 2048),
  external_id text check (length(external_id) between 1 and 255),
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  completed_at timestamptz(3),
  canceled_at timestamptz(3),
  sequence integer not null default 1 check (sequence > 0),
  wake_at timestamptz(3),
  primary key (account_id, environment, id),
  check (expires_at > created_at),
  check (amount_confirmed <= amount_received),
  check ((amount_accepted is null) = (accepted_at is null)),
  check (status not in ('completed', 'reversed') or completed_at is not null),
  check (status <> 'canceled' or canceled_at is not null)
) with (fillfactor = 90);

-- An address belongs to one payment for ever, whatever the tenant.
create unique index payments_address on payments (address);
create unique index payments_external_id on payments (account_id, environment, external_id) where external_id is not null;
-- The id begins with the creation time, so these serve newest-first pages and time ranges alike.
create index payments_status on payments (account_id, environment, status, id);
create index payments_currency on payments (account_id, environment, currency, id);
create index payments_network on payments (account_id, environment, network, id);
create index payments_wake on payments (environment, network, caip2, wake_at) where wake_at is not null;

-- A payment's history. The bytes sent to receivers are frozen here.
create table events (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  id text collate "C" not null check (id like 'evt\_%' and length(id) = 30),
  payment_id text collate "C",
  sequence integer check (sequence > 0),
  type text not null check (length(type) <= 40),
  status payment_status,
  exception payment_exception,
  previous_status payment_status,
  previous_exception payment_exception,
  body text not null,
  created_at timestamptz(3) not null,
  primary key (account_id, environment, id),
  foreign key (account_id, environment, payment_id) references payments,
  check ((payment_id is null) = (sequence is null)),
  check ((payment_id is null) = (status is null)),
  check (previous_status is not null or sequence is null or (sequence = 1 and type = 'payment.created')),
  check (previous_status is null or previous_status = status or legal_edge(previous_status, status))
);
create unique index events_payment on events (account_id, environment, payment_id, sequence) where payment_id is not null;

create table webhook_endpoints (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  id text collate "C" not null check (id like 'we\_%' and length(id) = 29),
  url text not null check (length(url) <= 2048),
  events text[] not null check (cardinality(events) > 0),
  description text check (length(description) <= 1000),
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  secret bytea not null,
  -- Secrets that still sign along, the latest first, and until when each does.
  previous_secrets bytea[] not null default '{}' check (cardinality(previous_secrets) <= 5),
  previous_secrets_until timestamptz(3)[] not null default '{}',
  created_at timestamptz(3) not null,
  deleted_at timestamptz(3),
  primary key (account_id, environment, id),
  check (cardinality(previous_secrets) = cardinality(previous_secrets_until)),
  check (status = 'disabled' or disabled_reason is null)
);
create index webhook_endpoints_live on webhook_endpoints (account_id, environment, id) where deleted_at is null;

-- The id is a function of (event, target), so the key itself makes a second delivery of the same pair impossible.
create function delivery_id(event_id text, target text) returns text
  language sql immutable strict parallel safe
  return 'dlv_' || substr(event_id, 5, 10) || substr(md5(event_id || target), 1, 16);

create table deliveries (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  id text collate "C" not null check (id like 'dlv\_%' and length(id) = 30),
  event_id text collate "C" not null,
  endpoint_id text collate "C",
  callback_url text check (length(callback_url) <= 2048),
  status text not null default 'scheduled' check (status in ('scheduled', 'succeeded', 'parked')),
  attempts integer not null default 0 check (attempts >= 0),
  next_attempt_at timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (account_id, environment, id),
  foreign key (account_id, environment, event_id) references events,
  foreign key (account_id, environment, endpoint_id) references webhook_endpoints,
  check (id = delivery_id(event_id, coalesce(endpoint_id, 'callback'))),
  check ((endpoint_id is null) <> (callback_url is null)),
  check ((status = 'scheduled') = (next_attempt_at is not null))
);
create index deliveries_due on deliveries (next_attempt_at) where status = 'scheduled';

create table idempotency_keys (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  route text not null,
  key text collate "C" not null check (length(key) between 1 and 255),
  body_hash bytea not null check (length(body_hash) = 32),
  resource_id text not null,
  -- Null while a long call holds the key; such a hold ends by itself at held_until.
  status smallint check (status between 200 and 599),
  response text,
  sealed_response bytea,
  held_until timestamptz(3),
  created_at timestamptz(3) not null,
  primary key (account_id, environment, route, key),
  check ((status is null) = (response is null and sealed_response is null)),
  check (status is not null or held_until is not null),
  check (response is null or sealed_response is null)
);
create index idempotency_keys_created on idempotency_keys (created_at);

-- Exact totals without counting. Writers append deltas; the folder adds them to the day's row. '' stands for "any", so
-- each combination of filters reads one row a day. hours holds the same count by hour of that UTC day.
create table payment_deltas (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null references accounts,
  environment environment not null,
  status payment_status not null,
  currency text collate "C" not null,
  network text collate "C" not null,
  hour timestamptz(3) not null check (hour = date_trunc('hour', hour, 'UTC')),
  count integer not null
);
create index payment_deltas_account on payment_deltas (account_id, environment);

create table payment_totals (
  account_id text collate "C" not null references accounts,
  environment environment not null,
  status text collate "C" not null,
  currency text collate "C" not null,
  network text collate "C" not null,
  day date not null,
  count bigint not null check (count >= 0),
  hours integer[] not null check (cardinality(hours) = 24 and 0 <= all (hours)),
  primary key (account_id, environment, status, currency, network, day)
);

-- What the poller last measured of each network. The API hands out an address only while this is fresh.
create table network_status (
  environment environment not null,
  network text collate "C" not null,
  caip2 text not null,
  status text not null check (status in ('operational', 'degraded', 'down', 'maintenance')),
  reason text,
  latest_block bigint check (latest_block >= 0),
  lag_seconds integer check (lag_seconds >= 0),
  -- When the latest poll that found every block processed began: expiry waits for it.
  caught_up_at timestamptz(3),
  checked_at timestamptz(3) not null,
  primary key (environment, network)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'florin: % of % is not allowed', tg_argv[0], tg_table_name using errcode = 'integrity_constraint_violation';
end $$;

create trigger payments_edges before update of status on payments for each row
  when (old.status <> new.status and not legal_edge(old.status, new.status))
  execute function refuse_change('that status edge');

create trigger payments_frozen before update on payments for each row
  when (
    (old.account_id, old.environment, old.id, old.amount, old.decimals, old.currency, old.network, old.caip2, old.contract,
     old.address, old.wallet_kind, old.treasury, old.derivation_index, old.mac, old.tiers, old.tolerance_bps,
     old.late_policy, old.late_window_seconds, old.description, old.metadata, old.callback_url, old.redirect_url,
     old.external_id, old.created_at, old.expires_at)
    is distinct from
    (new.account_id, new.environment, new.id, new.amount, new.decimals, new.currency, new.network, new.caip2, new.contract,
     new.address, new.wallet_kind, new.treasury, new.derivation_index, new.mac, new.tiers, new.tolerance_bps,
     new.late_policy, new.late_window_seconds, new.description, new.metadata, new.callback_url, new.redirect_url,
     new.external_id, new.created_at, new.expires_at)
    or new.sequence < old.sequence
    or (old.canceled_at is not null and new.canceled_at is distinct from old.canceled_at)
  )
  execute function refuse_change('a change of frozen terms');

create trigger events_frozen before update on events for each row execute function refuse_change('a change');

create trigger counters_forward before update on derivation_counters for each row
  when (new.next < old.next) execute function refuse_change('counting down');
