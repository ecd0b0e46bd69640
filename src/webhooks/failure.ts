import { errors } from 'undici';
import { codeOf } from '../core/errorCode.ts';

/** Why Florin refused or stopped a connection. */
export type EgressCode =
  | 'address_refused'
  | 'own_listener'
  | 'name_not_found'
  | 'name_lookup_failed'
  | 'timed_out'
  | 'canceled';

export class EgressError extends Error {
  readonly code: EgressCode;

  constructor(code: EgressCode) {
    super(code);
    this.name = 'EgressError';
    this.code = code;
  }
}

const timedOut = 'no complete answer in time';
const unreachable = 'host unreachable';
const cutOff = 'connection closed before the answer was complete';
const untrusted = 'certificate is not signed by a trusted authority';
const selfSigned = 'certificate is self-signed';

/** Merchants see these phrases and may match on them, so they must not change. */
const sentences: Readonly<Record<string, string>> = {
  address_refused: 'address is not allowed',
  own_listener: "address is one of Florin's own",
  name_not_found: 'host name not found',
  name_lookup_failed: 'host name lookup failed',
  timed_out: timedOut,
  canceled: 'delivery was canceled',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: cutOff,
  EPIPE: cutOff,
  UND_ERR_SOCKET: cutOff,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: cutOff,
  ETIMEDOUT: timedOut,
  UND_ERR_CONNECT_TIMEOUT: timedOut,
  UND_ERR_HEADERS_TIMEOUT: timedOut,
  UND_ERR_BODY_TIMEOUT: timedOut,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  EADDRNOTAVAIL: unreachable,
  UND_ERR_HEADERS_OVERFLOW: 'answer headers are too large',
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not valid yet',
  CERT_REVOKED: 'certificate is revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: selfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: selfSigned,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  EPROTO: 'TLS handshake failed',
};

/** A short phrase for an error, by its code alone: messages may contain addresses or headers. */
export const describeFailure = (error: unknown): string => {
  const code = codeOf(error);
  if (Object.hasOwn(sentences, code)) return sentences[code]!;
  // undici's parser errors do not always have a code.
  if (error instanceof errors.HTTPParserError) return 'answer is not valid HTTP';
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'TLS handshake failed';
  return 'delivery failed';
};
