/** What became of deliveries. */
export type WebhookHealth = {
  readonly succeeded: number;
  /** Failed at least once, and is tried again. */
  readonly retrying: number;
  /** Not tried yet. */
  readonly waiting: number;
  readonly parked: number;
  /** Attempts that failed, of all these deliveries. */
  readonly failedAttempts: number;
};

/** The newest deliveries of each state that are counted: more would cost much and say little. */
export const countedDeliveries = 1_000;
