/**
 * The closed table of errors. `docs/errors.md` and the OpenAPI document are held equal to it by a test.
 * A new row is a change of the public interface.
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

/** An answer the caller is meant to see. Anything else that is thrown is a fault, and tells the caller nothing. */
export class FlorinError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  /** When to try again, where that is known. */
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

/** The wire form of an error. `param` is present only where one parameter is at fault. */
export const errorBody = (error: FlorinError, requestId: string): string =>
  JSON.stringify({ error: { code: error.code, message: error.message, param: error.param, requestId } });
