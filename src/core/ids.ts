/**
 * An id is a prefix and 26 characters of lower-case Crockford base32: 48 bits of milliseconds, then 80 random bits. Ids
 * sort by creation time.
 */

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const bodyPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

export const idPrefixes = {
  payment: 'pay_',
  endpoint: 'we_',
  event: 'evt_',
  delivery: 'dlv_',
  key: 'key_',
  account: 'acct_',
  person: 'usr_',
  session: 'ses_',
  passkey: 'psk_',
  invitation: 'inv_',
  sweep: 'swp_',
  outgoing: 'out_',
} as const;
export type IdKind = keyof typeof idPrefixes;

const encode = (value: number, length: number): string => {
  let rest = value;
  let text = '';
  for (let i = 0; i < length; i++) {
    text = alphabet[rest % 32]! + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

const lowest = '0'.repeat(16);
const highest = 'z'.repeat(16);

/** The smallest and largest id of a millisecond. They turn a time range into an id range. */
export const firstIdAt = (kind: IdKind, ms: number): string => idPrefixes[kind] + encode(ms, 10) + lowest;
export const lastIdAt = (kind: IdKind, ms: number): string => idPrefixes[kind] + encode(ms, 10) + highest;

export const isId = (kind: IdKind, text: string): boolean =>
  text.startsWith(idPrefixes[kind]) && bodyPattern.test(text.slice(idPrefixes[kind].length));

export type IdSource = {
  /** `ms` is the given time, or the last one used if the clock went back. */
  next(kind: IdKind, nowMs: number): { id: string; ms: number };
};

const bits40 = 2 ** 40;
const bits32 = 2 ** 32;

/**
 * `random40` returns 40 random bits. Ids of one millisecond differ by a random step of up to 2^32, not by one: payment
 * ids open public checkout pages, so an attacker must not guess the next one.
 */
export const createIdSource = (random40: () => number): IdSource => {
  let lastMs = -1;
  let high = 0;
  let low = 0;
  let time = '';
  return {
    next(kind, nowMs) {
      if (nowMs > lastMs) {
        lastMs = nowMs;
        high = random40();
        low = random40();
        time = encode(nowMs, 10);
      } else {
        low += 1 + (random40() % bits32);
        if (low >= bits40) {
          low -= bits40;
          high += 1;
        }
        if (high >= bits40) {
          lastMs += 1;
          high = random40();
          time = encode(lastMs, 10);
        }
      }
      return { id: idPrefixes[kind] + time + encode(high, 8) + encode(low, 8), ms: lastMs };
    },
  };
};
