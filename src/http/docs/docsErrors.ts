import { type ErrorCode, errorStatus } from '../../core/errors.ts';
import { type Html, html } from '../../core/html.ts';

/** The meaning of each error code. `docs/errors.md` has the same text. */
export const errorGuide: Readonly<Record<ErrorCode, { when: string; remedy: string }>> = {
  invalid_request: {
    when: 'A parameter, the body or a header is missing, malformed or out of range.',
    remedy: 'Correct the field that param and message name. The same request would fail again.',
  },
  unauthorized: {
    when: 'The API key is missing, malformed, revoked or expired, or belongs to the other environment.',
    remedy: 'Send the header Authorization: Bearer with an active key of the environment you call.',
  },
  permission_denied: {
    when: 'The key does not have the permission that the message names, or does not allow your IP address.',
    remedy: 'Use a key with this permission, or call from an IP address that the key allows.',
  },
  https_required: {
    when: 'The request used plain HTTP. It was not executed.',
    remedy: 'Use HTTPS. If you sent a key, rotate it: it crossed the network unencrypted.',
  },
  not_found: {
    when: 'The path does not exist, or the id is unknown or belongs to another account or environment.',
    remedy: 'Check the path and the id, and use a key of the environment in which the object was created.',
  },
  method_not_allowed: {
    when: 'The path exists, but does not support this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  conflict: {
    when: 'The current state of the object does not allow this, or the externalId is already in use.',
    remedy: 'Retrieve the object and decide again. Do not repeat the same request.',
  },
  wallet_required: {
    when: 'You have no wallet on this network, and a live payment needs one.',
    remedy: 'Set a wallet for this network, then create the payment with a new Idempotency-Key.',
  },
  idempotency_in_progress: {
    when: 'A request with this Idempotency-Key is still running.',
    remedy: 'Wait a moment, then send the same request with the same key.',
  },
  payload_too_large: {
    when: 'The body is larger than 64 KiB.',
    remedy: 'Send a smaller body. Metadata may have up to 16 KiB.',
  },
  unsupported_media_type: {
    when: 'The body is not plain JSON in UTF-8.',
    remedy: 'Send Content-Type: application/json, without compression.',
  },
  idempotency_mismatch: {
    when: 'This Idempotency-Key was already used with a different body.',
    remedy: 'Use a new key for a new request. To repeat a request, send exactly the same bytes.',
  },
  rate_limit_exceeded: {
    when: 'Your account or your IP address has sent too many requests.',
    remedy: 'Wait for the number of seconds in Retry-After, then send the request again.',
  },
  internal_error: {
    when: 'Something went wrong in the service.',
    remedy:
      'Send the request again; send a POST with the same Idempotency-Key. If it keeps failing, report the requestId.',
  },
  network_unavailable: {
    when: 'Florin cannot watch this network right now, so it creates no payments on it.',
    remedy: 'Try again later, or use another network with the status operational.',
  },
  service_unavailable: {
    when: 'The service is overloaded, is stopping, or cannot reach its database, or the account waits for a review after a restore.',
    remedy: 'Send the request again after Retry-After; send a POST with the same Idempotency-Key.',
  },
};

export const errorTable = (): Html => html`<table class="fields errors">
<caption>Every error code</caption>
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning and what to do</th></tr></thead>
<tbody>${(Object.keys(errorStatus) as ErrorCode[]).map(
  code => html`<tr id="error-${code}"><th scope="row"><code>${code}</code></th><td class="type">${errorStatus[code]}</td><td><p>${
    errorGuide[code].when
  }</p><p class="limits">${errorGuide[code].remedy}</p></td></tr>
`,
)}</tbody>
</table>`;
