/**
 * All error codes of the API. A test keeps `docs/errors.md` and the OpenAPI document equal to this table. A new row
 * changes the public interface.
 */
export const errorStatus = {
  invalid_request: 400,
  unauthorized: 401,
  permission_denied: 403,
  https_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  wallet_required: 409,
  idempotency_in_progress: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limit_exceeded: 429,
  internal_error: 500,
  network_unavailable: 503,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** An error that the caller sees. Any other thrown error is a fault: the caller learns nothing of its content. */
export class FlorinError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  /** When the caller can retry, if known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, param?: string, retryAfterSeconds?: number) {
    super(message);
    this.name = 'FlorinError';
    this.code = code;
    this.param = param;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return errorStatus[this.code];
  }
}

export const invalid = (param: string | undefined, message: string): FlorinError =>
  new FlorinError('invalid_request', message, param);

/** The error as JSON. `param` is present only if a single parameter is at fault. */
export const errorBody = (error: FlorinError, requestId: string): string =>
  JSON.stringify({ error: { code: error.code, message: error.message, param: error.param, requestId } });
