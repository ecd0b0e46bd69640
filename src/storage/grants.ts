import pg from 'pg';

/** The tables from which the service deletes rows. */
export const deletable: readonly string[] = [
  'blocks', 'deliveries', 'idempotency_keys', 'payment_deltas', 'passkeys', 'passkey_challenges', 'sessions',
  'ended_sessions', 'access_links', 'sign_in_failures', 'guess_budgets', 'volume_deltas', 'holding_deltas', 'ledger_deltas',
  'suspected_differences', 'outbox',
]; // biome-ignore format: one list

/**
 * The service role may read and write rows: no DDL, no TRUNCATE. It may delete only from the listed tables, and history
 * is append-only. Everything else is revoked, because an earlier version may have granted more.
 */
export const grantTo = async (client: pg.Client, role: string): Promise<void> => {
  const name = pg.escapeIdentifier(role);
  await client.query(`
    grant usage on schema public to ${name};
    grant select, insert, update on all tables in schema public to ${name};
    revoke delete on all tables in schema public from ${name};
    grant delete on ${deletable.join(', ')} to ${name};
    revoke update on accounts, wallets, wallet_stops, wallet_verifications, wallet_effects, wallet_approvals,
      treasury_confirmations, restore_reviews, events, delivery_attempts, payment_deltas, audit_log, transfer_decisions from ${name};
    grant update (name, row_seal) on accounts to ${name};
    grant update (reviewed_at, reviewed_by, row_seal) on restore_reviews to ${name};
    grant update (row_seal) on wallet_stops, wallet_approvals, treasury_confirmations, events to ${name};
    grant update (mac, seal, row_seal) on wallets to ${name};
    grant update (hash, previous_hash) on audit_log to ${name};
    grant update (response) on delivery_attempts to ${name};
    revoke update on volume_deltas, holding_deltas, ledger_deltas, ledger_corrections, suspected_differences, sweeps,
      sweep_payments, derivation_epochs, lost_addresses, unclaimed_funds, chain_branches from ${name};
    grant update (row_seal) on ledger_corrections, derivation_epochs, lost_addresses, chain_branches to ${name};
    grant usage on all sequences in schema public to ${name};`);
};

/** What was migrated decides who may start. A release before this table has granted the rights to all tables. */
export const protectMigrations = async (client: pg.Client, role: string): Promise<void> => {
  const tables = 'schema_migrations, schema_expansions';
  await client.query(`revoke insert, update, delete on ${tables} from ${pg.escapeIdentifier(role)}`);
};
