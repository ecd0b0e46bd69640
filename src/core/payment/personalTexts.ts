/** The texts of a payment that may name a person, beyond those that are always erased. */
export type Erasure = {
  /** Its order number: without it, the same order can be asked for again. */
  readonly externalId: boolean;
  /** Where its events go: without it, the payment sends no more callbacks. */
  readonly callbackUrl: boolean;
};

/** What is erased, and what takes its place in a payment of the API. */
const blanks = { description: null, metadata: {}, redirectUrl: null, externalId: null, callbackUrl: null };

/** The names of the fields that are erased. */
export const erasedFields = ({ externalId, callbackUrl }: Erasure): string[] =>
  Object.keys(blanks).filter(name => (name !== 'externalId' || externalId) && (name !== 'callbackUrl' || callbackUrl));

/**
 * A printed payment without its texts. Every other field stays as it was, byte for byte: besides metadata, a payment has
 * only strings and small whole numbers, in an order that parsing keeps.
 */
const blanked = (payment: Record<string, unknown>, erasure: Erasure): Record<string, unknown> => {
  const erased = new Set(erasedFields(erasure));
  return Object.fromEntries(
    Object.entries(payment).map(([name, value]) => [
      name,
      erased.has(name) ? blanks[name as keyof typeof blanks] : value,
    ]),
  );
};

/** The body of an event without the texts of its payment. */
export const erasedEventBody = (body: string, erasure: Erasure): string => {
  const event = JSON.parse(body) as { data: Record<string, unknown> };
  return JSON.stringify({ ...event, data: blanked(event.data, erasure) });
};

/** The part of a callback's address that names the target of its deliveries, as `delivery_target` cuts it. */
export const serverOf = (url: string): string => /^[^:]+:\/\/[^/?#]*/.exec(url)![0];

/**
 * A kept answer without the texts of the payment, if it is the payment or a delivery to its callback. Refusals have no texts
 * of it.
 */
export const erasedAnswer = (response: string, paymentId: string, erasure: Erasure): string => {
  const answer = JSON.parse(response) as Record<string, unknown>;
  if (answer.id === paymentId) return JSON.stringify(blanked(answer, erasure));
  const isCallback = answer.endpointId === null && typeof answer.url === 'string';
  if (!isCallback || !erasure.callbackUrl) return response;
  return JSON.stringify({ ...answer, url: serverOf(answer.url as string) });
};
