/** Since when every attempt at an endpoint has failed, and when one last did. Both are null while it works. */
export type EndpointFailures = { readonly failingSince: Date | null; readonly failedAt: Date | null };

/** What attempts at an endpoint that are recorded together say about it. */
export type HeardAttempts = {
  readonly succeeded: boolean;
  /** The receiver answered 410. */
  readonly gone: boolean;
  /** The error of the latest attempt; null if one succeeded. */
  readonly lastError: string | null;
};

/** The endpoint is disabled if there is a reason. */
export type EndpointVerdict = EndpointFailures & { readonly disabledReason: string | null };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** An endpoint that fails for this long is disabled. */
const disableAfterMs = 5 * dayMs;
/**
 * Days without an attempt are not days of failure: after this time without one, the count starts again. The longest pause
 * between attempts is shorter, so the count of an endpoint that is tried all the time never starts again.
 */
const restartAfterMs = 2 * dayMs;
/** The last failure is written once per hour: a receiver that is down gets many attempts. */
const writeEveryMs = hourMs;

/** What becomes of an endpoint; null if nothing about it changes. */
export const judgeEndpoint = (
  { failingSince, failedAt }: EndpointFailures,
  { succeeded, gone, lastError }: HeardAttempts,
  now: Date,
): EndpointVerdict | null => {
  const ageMs = (at: Date): number => now.getTime() - at.getTime();
  const isContinued = failedAt !== null && ageMs(failedAt) < restartAfterMs;
  const failures: EndpointFailures = succeeded
    ? { failingSince: null, failedAt: null }
    : { failingSince: (isContinued ? failingSince : null) ?? now, failedAt: now };
  if (gone) return { ...failures, disabledReason: 'The receiver answered 410 (gone).' };
  if (succeeded) return failingSince === null ? null : { ...failures, disabledReason: null };
  if (ageMs(failures.failingSince!) >= disableAfterMs) {
    const disabledReason = `Every attempt of the last five days failed; the last one: ${lastError}.`;
    return { ...failures, disabledReason };
  }
  const isWritten = failingSince !== null && failedAt !== null && ageMs(failedAt) < writeEveryMs;
  return isWritten ? null : { ...failures, disabledReason: null };
};
