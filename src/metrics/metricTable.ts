import type { Family, MetricType, Sample } from './exposition.ts';

type Row = { readonly type: MetricType; readonly help: string };

/** Every metric. A test compares the table with docs/metrics.md and with what a Florin answers. */
export const metricTable = {
  process_start_time_seconds: { type: 'gauge', help: 'When the process started, in seconds since 1970.' },
  process_cpu_seconds_total: { type: 'counter', help: 'CPU time of the process.' },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of the process.' },
  florin_process_up: { type: 'gauge', help: '1 if a process under a supervisor answered for this scrape.' },
  florin_event_loop_delay_seconds: {
    type: 'histogram',
    help: 'How late a timer of the process fires; ten measurements a second.',
  },
  florin_http_request_duration_seconds: {
    type: 'histogram',
    help: 'Time from the headers of a request to the end of its answer, by pattern of the route and class of the status.',
  },
  florin_create_batch_payments: { type: 'histogram', help: 'Payments that one statement created.' },
  florin_payments: { type: 'gauge', help: 'Payments by status.' },
  florin_chain_status: { type: 'gauge', help: '1 for the status that a chain has, 0 for the others.' },
  florin_chain_lag_seconds: { type: 'gauge', help: 'Age of the moment up to which every block is processed.' },
  florin_chain_halted: { type: 'gauge', help: '1 if the chain is halted until an operator decides.' },
  florin_rpc_faults_total: { type: 'counter', help: 'Times that a node gave no usable answer.' },
  florin_deliveries_due: { type: 'gauge', help: 'Webhook deliveries whose time has come, up to 10,000.' },
  florin_deliveries_oldest_due_seconds: { type: 'gauge', help: 'How long the oldest due delivery is overdue.' },
  florin_delivery_attempts_total: { type: 'counter', help: 'Attempts to deliver a webhook, by what followed.' },
  florin_differences_open: {
    type: 'gauge',
    help: 'Open differences between the records and what addresses hold, up to 10,000.',
  },
  florin_unclaimed_funds: { type: 'gauge', help: 'Transfers for payments that a restore lost, up to 10,000.' },
  florin_unclaimed_funds_latest_timestamp_seconds: {
    type: 'gauge',
    help: 'When the newest of these transfers was seen, in seconds since 1970.',
  },
  florin_outbox_parked: { type: 'gauge', help: 'Alerts and mails given up in the last 30 days, up to 10,000.' },
  florin_outbox_parked_latest_timestamp_seconds: {
    type: 'gauge',
    help: 'When the newest of these was given up, in seconds since 1970.',
  },
  florin_reviews_open: { type: 'gauge', help: 'Accounts whose production is closed until a review after a restore.' },
  florin_restore_gate_closed: { type: 'gauge', help: '1 if a restore was noticed that nobody has declared.' },
  florin_seals_refused_total: {
    type: 'counter',
    help: 'Times that a record was refused because it does not match its seal.',
  },
  florin_limits_shared: {
    type: 'gauge',
    help: '1 if rate limits are counted together with other processes, 0 while this process counts alone.',
  },
  florin_limits_counted_alone_total: {
    type: 'counter',
    help: 'Requests that this process counted alone because the shared rate limits did not answer in time.',
  },
  florin_database_up: { type: 'gauge', help: '1 if the database answered a select 1 for this scrape.' },
  florin_readings_failed_total: {
    type: 'counter',
    help: 'Readings for scrapes that failed or took too long; what they say was left out.',
  },
  florin_database_connections: { type: 'gauge', help: 'Open connections of a pool.' },
  florin_database_connections_waiting: { type: 'gauge', help: 'Statements that wait for a connection of a pool.' },
  florin_data_directory_free_bytes: { type: 'gauge', help: 'Disk space left for the data directory.' },
  florin_data_directory_size_bytes: { type: 'gauge', help: 'Size of the disk of the data directory.' },
  florin_backup_last_success_timestamp_seconds: {
    type: 'gauge',
    help: 'When the last backup succeeded, in seconds since 1970.',
  },
  florin_backup_interval_seconds: { type: 'gauge', help: 'Time from one scheduled backup to the next, as it is set.' },
  florin_backup_failing: { type: 'gauge', help: '1 if the newest scheduled backup failed.' },
  florin_log_archive_timestamp_seconds: {
    type: 'gauge',
    help: 'What was committed before this time is in the archived log, in seconds since 1970.',
  },
  florin_log_archive_interval_seconds: {
    type: 'gauge',
    help: 'How much of the log may be lost with the disk, as it is set.',
  },
} as const satisfies Readonly<Record<string, Row>>;

export type MetricName = keyof typeof metricTable;

export const familyOf = (name: MetricName, samples: readonly Sample[]): Family => ({
  name,
  ...metricTable[name],
  samples,
});

/** A gauge without labels; null if it is not known. */
export const gauge = (name: MetricName, value: number | null): Family =>
  familyOf(name, value === null ? [] : [{ labels: {}, value }]);
