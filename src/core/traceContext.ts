/** The trace that a request belongs to, by W3C Trace Context. */
export type TraceContext = { readonly traceId: string; readonly sampled: boolean };

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** A trace as events keep it: without the id of the parent, which every request has anew. */
const keptForm = /^[0-9a-f]{32}-0[01]$/;
const isZero = (digits: string): boolean => /^0+$/.test(digits);

/**
 * Reads a `traceparent` header strictly: what is not well-formed is ignored, as if it were not there. Later versions may
 * have more at the end. Version ff and ids of zeros are not allowed.
 */
export const parseTraceparent = (header: unknown): TraceContext | null => {
  if (typeof header !== 'string' || header.length > 200) return null;
  const found = form.exec(header);
  if (!found) return null;
  const [, version, traceId, parentId, flags, rest] = found;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (isZero(traceId!) || isZero(parentId!)) return null;
  return { traceId: traceId!, sampled: (Number.parseInt(flags!, 16) & 1) === 1 };
};

export const keptTrace = ({ traceId, sampled }: TraceContext): string => `${traceId}-0${sampled ? 1 : 0}`;

/**
 * The `traceparent` header of a request that goes on with a kept trace, from the parent with this id. No seal covers kept
 * traces, so one that is not well-formed is ignored.
 */
export const traceparentOf = (kept: string | null, parentId: string): string | null => {
  if (kept === null || !keptForm.test(kept)) return null;
  const [traceId, flags] = kept.split('-');
  return `00-${traceId}-${parentId}-${flags}`;
};
