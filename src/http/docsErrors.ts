import { type ErrorCode, errorStatus } from '../core/errors.ts';
import { type Html, html } from '../core/html.ts';

/** What each row of the closed table means to a caller. `docs/errors.md` says the same, word for word. */
export const errorGuide: Readonly<Record<ErrorCode, { when: string; remedy: string }>> = {
  invalid_request: {
    when: 'A parameter, the body or a header is missing, malformed or out of range.',
    remedy: 'Correct what param and message name, then send it again; unchanged it will fail again.',
  },
  unauthorized: {
    when: 'The API key is missing, malformed, revoked, expired, or of the other environment.',
    remedy: 'Send Authorization: Bearer with a living key of the environment that you call.',
  },
  permission_denied: {
    when: 'The key lacks the permission that the message names, or may not be used from your address.',
    remedy: 'Use a key that has the permission, or call from an address on its list.',
  },
  https_required: {
    when: 'The request came over plain HTTP. Nothing was executed.',
    remedy: 'Use https, and rotate the key if one was sent: it crossed the network in clear.',
  },
  not_found: {
    when: 'Nothing is at this path, or the id is unknown, of another account or of the other environment.',
    remedy: 'Check the path and the id, and that the key is of the environment the object was made in.',
  },
  method_not_allowed: {
    when: 'The path exists but does not take this method.',
    remedy: 'Use one of the methods in the Allow header.',
  },
  conflict: {
    when: 'The object is not in a state that allows this, or the externalId is already in use.',
    remedy: 'Read the object as it is now and decide anew; do not repeat the request as it is.',
  },
  wallet_required: {
    when: 'A live payment was asked for on a network without a receiving wallet.',
    remedy: 'Set the wallet of this network first, then ask with a new Idempotency-Key.',
  },
  idempotency_in_progress: {
    when: 'A request with this Idempotency-Key is still running.',
    remedy: 'Wait a moment and send the same request with the same key again.',
  },
  payload_too_large: {
    when: 'The body is larger than 64 KiB.',
    remedy: 'Send less; metadata alone may be 16 KiB.',
  },
  unsupported_media_type: {
    when: 'The body is not plain JSON in UTF-8.',
    remedy: 'Send Content-Type: application/json, without compression.',
  },
  idempotency_mismatch: {
    when: 'This Idempotency-Key was used with another body.',
    remedy: 'Use a new key for a new request, and the very same bytes for a repeated one.',
  },
  rate_limit_exceeded: {
    when: 'The allowance of the account, or of your address, is used up.',
    remedy: 'Wait as many seconds as Retry-After says, then send it again.',
  },
  internal_error: {
    when: 'Something went wrong on the side of the service.',
    remedy: 'Send it again, a POST with the same Idempotency-Key; if it stays, report the requestId.',
  },
  network_unavailable: {
    when: 'The network is not being watched right now, so no address is handed out.',
    remedy: 'Try again later, or offer another network whose status is operational.',
  },
  service_unavailable: {
    when: 'The service is overloaded, stopping, or cannot reach its database.',
    remedy: 'Send it again after Retry-After, a POST with the same Idempotency-Key.',
  },
};

export const errorTable = (): Html => html`<table class="fields errors">
<caption>Every error code</caption>
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">When, and what to do</th></tr></thead>
<tbody>${(Object.keys(errorStatus) as ErrorCode[]).map(
  code => html`<tr id="error-${code}"><th scope="row"><code>${code}</code></th><td class="type">${errorStatus[code]}</td><td><p>${
    errorGuide[code].when
  }</p><p class="limits">${errorGuide[code].remedy}</p></td></tr>
`,
)}</tbody>
</table>`;
