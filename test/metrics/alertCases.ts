/** What makes an alert fire, for `promtool test rules`: series by minute, and the labels and the summary that come out. */
export type AlertCase = {
  readonly alert: string;
  readonly series: Readonly<Record<string, string>>;
  /** Minutes after the beginning at which it must fire. */
  readonly atMinutes: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
};

const job = `instance="a:1",job="florin"`;
const where = { instance: 'a:1', job: 'florin' };
const base = { chain: 'eip155:8453', network: 'base' };
const chain = `chain="eip155:8453",network="base",${job}`;
const requests = (labels: string): string => `florin_http_request_duration_seconds_${labels}`;

/** Series of some hours, of a Florin where all is well. */
export const healthySeries: Readonly<Record<string, string>> = {
  [`up{${job}}`]: '1x200',
  [`florin_database_up{${job}}`]: '1x200',
  [requests(`count{${job},environment="production",method="POST",route="/v1/payments",status="2xx"}`)]: '0+600x200',
  [requests(`count{${job},environment="production",method="POST",route="/v1/payments",status="5xx"}`)]: '0x200',
  [requests(`bucket{${job},environment="production",method="POST",route="/v1/payments",status="2xx",le="1"}`)]:
    '0+600x200',
  [requests(`bucket{${job},environment="production",method="POST",route="/v1/payments",status="2xx",le="+Inf"}`)]:
    '0+600x200',
  [`florin_event_loop_delay_seconds_bucket{${job},le="0.25"}`]: '0+600x200',
  [`florin_event_loop_delay_seconds_bucket{${job},le="+Inf"}`]: '0+600x200',
  [`florin_database_connections_waiting{${job},pool="main"}`]: '0x200',
  [`florin_limits_shared{${job}}`]: '1x200',
  [`florin_data_directory_free_bytes{${job}}`]: '500x200',
  [`florin_data_directory_size_bytes{${job}}`]: '1000x200',
  [`florin_chain_halted{${chain}}`]: '0x200',
  [`florin_chain_lag_seconds{${chain}}`]: '2x200',
  [`florin_chain_status{${chain},status="operational"}`]: '1x200',
  [`florin_rpc_faults_total{${chain},node="1"}`]: '0+0.2x200',
  [`florin_deliveries_oldest_due_seconds{${job},attempt="first"}`]: '1x200',
  [`florin_deliveries_oldest_due_seconds{${job},attempt="retry"}`]: '4000x200',
  [`florin_delivery_attempts_total{${job},result="succeeded"}`]: '0+60x200',
  [`florin_delivery_attempts_total{${job},result="retry"}`]: '0+6x200',
  [`florin_delivery_attempts_total{${job},result="parked"}`]: '0x200',
  [`process_start_time_seconds{${job}}`]: '5x100 6x100',
  [`florin_seals_refused_total{${job}}`]: '0x200',
  [`florin_differences_open{${job}}`]: '0x200',
  // What was found long ago tells of nothing new. The clock of these tests begins in 1970.
  [`florin_unclaimed_funds_latest_timestamp_seconds{${job}}`]: '-86400x200',
  [`florin_outbox_parked_latest_timestamp_seconds{${job},kind="mail"}`]: '-86400x200',
  [`florin_restore_gate_closed{${job}}`]: '0x200',
  [`florin_reviews_open{${job}}`]: '0x200',
  [`florin_backup_last_success_timestamp_seconds{${job}}`]: '0x200',
  [`florin_backup_interval_seconds{${job}}`]: '7200x200',
  [`florin_backup_failing{${job}}`]: '0x200',
  [`florin_log_archive_timestamp_seconds{${job}}`]: '0+60x200',
  [`florin_log_archive_interval_seconds{${job}}`]: '60x200',
};

export const alertCases: readonly AlertCase[] = [
  {
    alert: 'FlorinDown',
    series: { [`up{${job}}`]: '1 0x10' },
    atMinutes: 4,
    labels: { severity: 'page', ...where },
    summary: 'Florin at a:1 does not answer.',
  },
  {
    alert: 'FlorinRestarting',
    series: { [`process_start_time_seconds{${job}}`]: '1 2 3 4 5 5x10' },
    atMinutes: 6,
    labels: { severity: 'page', ...where },
    summary: 'Florin at a:1 was started 4 times in 15 minutes.',
  },
  {
    alert: 'FlorinDatabaseDown',
    series: { [`florin_database_up{${job}}`]: '1 0x10' },
    atMinutes: 3,
    labels: { severity: 'page', ...where },
    summary: 'The database does not answer Florin at a:1.',
  },
  {
    alert: 'FlorinErrors',
    series: {
      [requests(`count{${job},environment="production",method="POST",route="/v1/payments",status="2xx"}`)]: '0+60x30',
      [requests(`count{${job},environment="production",method="POST",route="/v1/payments",status="5xx"}`)]: '0+20x30',
    },
    atMinutes: 15,
    labels: { severity: 'page', instance: 'a:1' },
    summary: '25% of the requests to a:1 fail.',
  },
  {
    alert: 'FlorinSlow',
    series: {
      [requests(`bucket{${job},environment="production",method="POST",route="/v1/payments",status="2xx",le="1"}`)]:
        '0+60x30',
      [requests(`bucket{${job},environment="production",method="POST",route="/v1/payments",status="2xx",le="2.5"}`)]:
        '0+70x30',
      [requests(`bucket{${job},environment="production",method="POST",route="/v1/payments",status="2xx",le="+Inf"}`)]:
        '0+70x30',
    },
    atMinutes: 20,
    labels: { severity: 'ticket', instance: 'a:1' },
    summary: 'One in a hundred requests to a:1 takes over a second.',
  },
  {
    alert: 'FlorinDatabasePoolFull',
    series: { [`florin_database_connections_waiting{${job},pool="main"}`]: '0 3x10' },
    atMinutes: 7,
    labels: { severity: 'ticket', pool: 'main', ...where },
    summary: 'Statements of a:1 wait for connections of the pool main.',
  },
  {
    alert: 'FlorinLimitsNotShared',
    series: { [`florin_limits_shared{${job}}`]: '1 0x10' },
    atMinutes: 4,
    labels: { severity: 'ticket', ...where },
    summary:
      'Florin at a:1 counts rate limits alone, always or now and then: its Redis or its supervisor does not answer in time.',
  },
  {
    alert: 'FlorinLimitsNotShared',
    series: {
      [`florin_limits_shared{${job}}`]: '1x15',
      [`florin_limits_counted_alone_total{${job}}`]: '0+60x15',
    },
    atMinutes: 8,
    labels: { severity: 'ticket', ...where },
    summary:
      'Florin at a:1 counts rate limits alone, always or now and then: its Redis or its supervisor does not answer in time.',
  },
  {
    alert: 'FlorinEventLoopSlow',
    series: {
      [`florin_event_loop_delay_seconds_bucket{${job},le="0.25"}`]: '0+300x30',
      [`florin_event_loop_delay_seconds_bucket{${job},le="0.5"}`]: '0+600x30',
      [`florin_event_loop_delay_seconds_bucket{${job},le="+Inf"}`]: '0+600x30',
    },
    atMinutes: 20,
    labels: { severity: 'ticket', instance: 'a:1' },
    summary: 'a:1 does not get enough CPU time.',
  },
  {
    alert: 'FlorinDiskFilling',
    series: {
      [`florin_data_directory_free_bytes{${job}}`]: '500 50x20',
      [`florin_data_directory_size_bytes{${job}}`]: '1000x20',
    },
    atMinutes: 10,
    labels: { severity: 'page', ...where },
    summary: '5% of the disk of a:1 is left.',
  },
  {
    alert: 'FlorinChainHalted',
    series: { [`florin_chain_halted{${chain}}`]: '0 1x5' },
    atMinutes: 2,
    labels: { severity: 'page', ...base },
    summary: 'base (eip155:8453) is halted until you decide.',
  },
  {
    alert: 'FlorinChainNotRead',
    series: { [`florin_chain_lag_seconds{${chain}}`]: '2 360x20' },
    atMinutes: 8,
    labels: { severity: 'page', ...base },
    summary: 'Blocks of base (eip155:8453) have not been processed for 6m 0s.',
  },
  {
    alert: 'FlorinChainNotOperational',
    series: { [`florin_chain_status{${chain},status="operational"}`]: '1 0x20' },
    atMinutes: 13,
    labels: { severity: 'page', ...base },
    summary: 'base (eip155:8453) is not operational.',
  },
  {
    alert: 'FlorinNodeFaults',
    series: { [`florin_rpc_faults_total{${chain},node="1"}`]: '0+1x60' },
    atMinutes: 40,
    labels: { severity: 'ticket', node: '1', ...base, ...where },
    summary: 'Node 1 of base (eip155:8453) fails again and again.',
  },
  {
    alert: 'FlorinDeliveriesLate',
    series: { [`florin_deliveries_oldest_due_seconds{${job},attempt="first"}`]: '0 90x20' },
    atMinutes: 8,
    labels: { severity: 'page' },
    summary: 'The oldest webhook that was never tried is 1m 30s late.',
  },
  {
    alert: 'FlorinDeliveriesFailing',
    series: {
      [`florin_delivery_attempts_total{${job},result="succeeded"}`]: '0+10x60',
      [`florin_delivery_attempts_total{${job},result="retry"}`]: '0+30x60',
    },
    atMinutes: 40,
    labels: { severity: 'ticket' },
    summary: '75% of the attempts to deliver webhooks fail.',
  },
  {
    alert: 'FlorinDeliveriesParked',
    series: { [`florin_delivery_attempts_total{${job},result="parked"}`]: '0 0 2x10' },
    atMinutes: 5,
    labels: { severity: 'ticket' },
    summary: 'Webhooks were given up in the last hour.',
  },
  {
    alert: 'FlorinSealRefused',
    series: { [`florin_seals_refused_total{${job}}`]: '0 1x5' },
    atMinutes: 2,
    labels: { severity: 'page', ...where },
    summary: 'a:1 refused records that somebody changed in the database.',
  },
  {
    // Refused before the first scrape.
    alert: 'FlorinSealRefused',
    series: { [`florin_seals_refused_total{${job}}`]: '2x50' },
    atMinutes: 40,
    labels: { severity: 'page', ...where },
    summary: 'a:1 refused records that somebody changed in the database.',
  },
  {
    alert: 'FlorinDifferenceOpen',
    series: { [`florin_differences_open{${job}}`]: '0 2x20' },
    atMinutes: 8,
    labels: { severity: 'ticket' },
    summary: '2 addresses hold more or less than the records say.',
  },
  {
    alert: 'FlorinUnclaimedFunds',
    series: { [`florin_unclaimed_funds_latest_timestamp_seconds{${job}}`]: '-86400 -86400 -82800x5' },
    atMinutes: 4,
    labels: { severity: 'ticket' },
    summary: 'Funds arrived for payments that a restore lost.',
  },
  {
    alert: 'FlorinRestoreUndeclared',
    series: { [`florin_restore_gate_closed{${job}}`]: '0 1x20' },
    atMinutes: 8,
    labels: { severity: 'page' },
    summary: 'The database was restored or moved. Run florin restored.',
  },
  {
    alert: 'FlorinReviewsOpen',
    series: { [`florin_reviews_open{${job}}`]: '0 4x90' },
    atMinutes: 70,
    labels: { severity: 'ticket' },
    summary: 'Production of 4 accounts waits for a review after a restore.',
  },
  {
    alert: 'FlorinOutboxParked',
    series: { [`florin_outbox_parked_latest_timestamp_seconds{${job},kind="mail"}`]: '-82800x5' },
    atMinutes: 2,
    labels: { severity: 'ticket', kind: 'mail' },
    summary: 'Messages of the kind mail could not be sent and were given up.',
  },
  {
    alert: 'FlorinBackupOld',
    series: {
      [`florin_backup_last_success_timestamp_seconds{${job}}`]: '0x200',
      [`florin_backup_interval_seconds{${job}}`]: '3600x200',
    },
    atMinutes: 2 * 60 + 6,
    labels: { severity: 'page', ...where },
    summary: 'The last backup of a:1 is 2h 6m 0s old.',
  },
  {
    alert: 'FlorinBackupFailing',
    series: { [`florin_backup_failing{${job}}`]: '0 1x200' },
    atMinutes: 185,
    labels: { severity: 'ticket', instance: 'a:1' },
    summary: 'Scheduled backups of a:1 fail.',
  },
  {
    alert: 'FlorinLogArchiveLate',
    series: {
      [`florin_log_archive_timestamp_seconds{${job}}`]: '0x30',
      [`florin_log_archive_interval_seconds{${job}}`]: '120x30',
    },
    atMinutes: 16,
    labels: { severity: 'page', ...where },
    summary: 'What a:1 committed in the last 16m 0s would be lost with the disk.',
  },
];

/** When alerts must be silent: it is dealt with, or there is nothing to tell. */
export const silentCases: readonly Pick<AlertCase, 'alert' | 'series' | 'atMinutes'>[] = [
  { alert: 'FlorinSealRefused', series: { [`florin_seals_refused_total{${job}}`]: '0 3x200' }, atMinutes: 65 },
  { alert: 'FlorinSealRefused', series: { [`florin_seals_refused_total{${job}}`]: '3x200' }, atMinutes: 65 },
  {
    alert: 'FlorinUnclaimedFunds',
    series: { [`florin_unclaimed_funds_latest_timestamp_seconds{${job}}`]: '-86340x5' },
    atMinutes: 3,
  },
  {
    alert: 'FlorinOutboxParked',
    series: { [`florin_outbox_parked_latest_timestamp_seconds{${job},kind="mail"}`]: '-86340x5' },
    atMinutes: 3,
  },
  {
    alert: 'FlorinBackupOld',
    series: { [`florin_backup_last_success_timestamp_seconds{${job}}`]: '-200000x10' },
    atMinutes: 10,
  },
  {
    alert: 'FlorinBackupOld',
    series: {
      [`florin_backup_last_success_timestamp_seconds{${job}}`]: '-200000x10',
      [`florin_backup_interval_seconds{${job}}`]: '604800x10',
    },
    atMinutes: 10,
  },
  {
    alert: 'FlorinLogArchiveLate',
    series: {
      [`florin_log_archive_timestamp_seconds{${job}}`]: '0x60',
      [`florin_log_archive_interval_seconds{${job}}`]: '900x60',
    },
    atMinutes: 60,
  },
];
