/**
 * Replaces what differs between two runs by placeholders. A value gets the same placeholder wherever it appears, so that
 * two answers that must name the same payment still have to. Everything else stays as it was sent.
 */
export type Masks = {
  /** Names a port, a secret or another text that only this run has. */
  name(text: string, placeholder: string): void;
  /** An address that is the same in every run, such as the contract of a token. */
  keep(address: string): void;
  apply(text: string, requestId?: string): string;
  /** From now on, this request id is shown as that of the named request. */
  nameRequest(requestId: string, name: string): void;
};

type Rule = readonly [pattern: RegExp, kind: string];

const isoTime = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;

/** Numbered by first occurrence. */
const identities: readonly Rule[] = [
  [/\b(?:pay|we|evt|dlv|key|acct|usr|ses|psk|inv|swp)_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, ''],
  [/\bwhsec_[A-Za-z0-9+/_-]{20,}=*/g, 'webhook secret'],
  [/\bsk_(?:test|live)_[A-Za-z0-9]{20,}/g, 'API key'],
  [/(?<=\bsk_(?:test|live)_…)[A-Za-z0-9]{4}\b/g, 'end of key'],
  // The id of a person in base64, as authenticators get it.
  [/\bdXNyXz[A-Za-z0-9_-]{34}\b/g, 'user handle'],
  [/(?<=\bW\/")[A-Za-z0-9_-]{22}(?=\.)/g, 'version'],
  [/(?<=__Host-florin-device-[^=]{1,40}=)[\w.~-]+/g, 'device'],
  [/(?<![\w.-])[A-Za-z0-9_-]{43}(?![\w.-])/g, 'token'],
  [/\b0x[0-9a-fA-F]{65,}/g, 'bytes'],
  [/\b0x[0-9a-fA-F]{64}\b/g, 'hash'],
  [/\b0x[0-9a-fA-F]{40}\b/g, 'address'],
];

/** The name of a member, also in JSON inside of a JSON string. */
const member = (names: string): string => String.raw`(\\?"(?:${names})\\?":(?:\\?")?)`;

/** What grows with every block or takes another time in each run. */
const measures = member(
  'latestBlock|lagSeconds|blockNumber|durationMs|detectP50|detectP95|completeP50|completeP95|units|costNative|gas|' +
    'webhook-timestamp',
);
/** Zero means that there is no transfer, and stays. */
const depths = member('confirmations|current');

const anonymous: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`${measures}[0-9]+(?:\\.[0-9]+)?`, 'g'), '$1<number>'],
  [new RegExp(`${depths}[1-9][0-9]*`, 'g'), '$1<number>'],
  [new RegExp(isoTime, 'g'), '<time>'],
  // The days of a report, and the day in the name of a file.
  [/(?<="days":\[[^\]]*)\d{4}-\d\d-\d\d/g, '<day>'],
  [/-\d{4}-\d\d-\d\d\.csv\b/g, '-<day>.csv'],
  [/Try again in \d+ s\b/g, 'Try again in <number> s'],
];

/** Masked first: a part of one may look like a token. */
const signature = new RegExp(`${member('webhook-signature')}(?:v1,[A-Za-z0-9+/]{43}= ?)+`, 'g');

/**
 * A payment's own times: the same wherever it is shown, and its lifetime in seconds. They go by its id, because two
 * payments may be created in the same millisecond.
 */
const lifetime = new RegExp(
  String.raw`(?<=\\?"id\\?":\\?"(pay_[0-9a-z]{26})[^{}]*\\?"expiresAt\\?":\\?")(${isoTime})(\\?",\\?"createdAt\\?":\\?")(${isoTime})`,
  'g',
);

export const createMasks = (): Masks => {
  const named = new Map<string, string>();
  const kept = new Set<string>();
  const requests = new Map<string, string>();
  const counts = new Map<string, number>();
  const placeholders = new Map<string, string>();

  const placeholder = (kind: string, value: string): string => {
    const id = `${kind} ${value}`;
    const known = placeholders.get(id);
    if (known !== undefined) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const made = `<${kind} ${count}>`;
    placeholders.set(id, made);
    return made;
  };

  const identify = (text: string): string =>
    identities.reduce(
      (shown, [pattern, kind]) =>
        shown.replace(pattern, value => {
          if (kept.has(value.toLowerCase())) return value;
          return placeholder(kind === '' ? value.slice(0, value.indexOf('_')) : kind, value);
        }),
      text,
    );

  const showRequests = (text: string, requestId: string | undefined): string =>
    text.replace(/\breq_[A-Za-z0-9]{18}\b/g, id =>
      id === requestId ? '<req>' : `<req of ${requests.get(id) ?? 'an unknown request'}>`,
    );

  return {
    name: (text, shown) => void named.set(text, shown),
    keep: address => void kept.add(address.toLowerCase()),
    nameRequest: (requestId, name) => void requests.set(requestId, name),
    apply(text, requestId) {
      let shown = text;
      for (const [value, each] of named) shown = shown.replaceAll(value, each);
      shown = showRequests(shown, requestId).replace(lifetime, (_, id, expires, between, created) => {
        const seconds = (Date.parse(expires) - Date.parse(created)) / 1000;
        const name = placeholder('created', `${id} ${created}`);
        return `${name} + ${seconds} s${between}${name}`;
      });
      shown = identify(shown.replace(signature, '$1<signature>'));
      for (const [pattern, by] of anonymous) shown = shown.replace(pattern, by);
      return shown;
    },
  };
};
