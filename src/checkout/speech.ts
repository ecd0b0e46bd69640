import { type Html, html } from '../core/html.ts';
import type { PluralKey, SentenceKey } from './catalogue.ts';
import type { Language } from './languages.ts';

/** Values for the placeholders of a sentence. */
export type Values = Readonly<Record<string, string>>;

/** A language with the values of a payment, so that callers only name a sentence. */
export type Speech = {
  readonly language: Language;
  /** As markup. Each value is isolated, so that a right-to-left name does not reorder the text around it. */
  say(key: SentenceKey, more?: Values): Html;
  /** As plain text, for titles and attributes. */
  text(key: SentenceKey, more?: Values): string;
  plural(key: PluralKey, count: number): string;
  /** A time in UTC; the script converts it to the payer's time zone. */
  time(ms: number): Html;
  duration(seconds: number): string;
};

const sums: ReadonlySet<string> = new Set(['amount', 'received', 'remaining', 'extra']);
/** Longer sums are set smaller, and even longer ones may break across lines. */
const [longestLargeSum, longestWholeSum] = [14, 20];

export const classOfSum = ({ length }: string): string => {
  if (length > longestWholeSum) return 'sum long';
  return length > longestLargeSum ? 'sum wide' : 'sum';
};

const valueFor = (values: Values, name: string): string => {
  const value = values[name];
  if (value === undefined) throw new Error(`a sentence has no value for {${name}}`);
  return value;
};

/** Every second piece is the name of a placeholder. */
const piecesOf = (sentence: string): string[] => sentence.split(/\{([a-z]+)\}/i);

const fillMarkup = (sentence: string, values: Values): Html => {
  const parts = piecesOf(sentence).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const value = valueFor(values, piece);
    return html`<bdi class="${sums.has(piece) ? classOfSum(value) : piece}">${value}</bdi>`;
  });
  return html`${parts}`;
};

const turning = /[\u202a-\u202e\u2066-\u2069]/g;
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

/** Without markup, control characters isolate a value, so such characters are removed from it. */
const setApart = (value: string, language: Language): string => {
  const plain = value.replaceAll(turning, '');
  return language.dir === 'rtl' || rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
};

const fillText = (sentence: string, values: Values, language: Language): string =>
  piecesOf(sentence)
    .map((piece, index) => (index % 2 === 0 ? piece : setApart(valueFor(values, piece), language)))
    .join('');

/** Cached, because creating an Intl format takes longer than using it a thousand times. */
const once = <Made>(make: (locale: string, variant: string) => Made): ((locale: string, variant?: string) => Made) => {
  const made = new Map<string, Made>();
  return (locale, variant = '') => {
    const key = `${locale} ${variant}`;
    const known = made.get(key) ?? make(locale, variant);
    made.set(key, known);
    return known;
  };
};

const numberFormat = once((locale, fractionDigits) => {
  const digits = Number(fractionDigits);
  return new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
});

const unitFormat = once(
  (locale, unit) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 0 }),
);

const pluralRules = once(locale => new Intl.PluralRules(locale));

const timeFormat = once(
  locale =>
    new Intl.DateTimeFormat(locale, {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: 'numeric',
      minute: '2-digit',
      timeZone: 'UTC',
      timeZoneName: 'short',
    }),
);

/** Keeps all digits: Intl gets the decimal as text, never as a float. */
export const decimalText = (language: Language, decimal: string): string => {
  const fractionDigits = decimal.split('.')[1]?.length ?? 0;
  return numberFormat(language.locale, String(fractionDigits)).format(decimal as `${number}`);
};

const minuteSeconds = 60;
const hourSeconds = 60 * minuteSeconds;

const durationText = (language: Language, seconds: number): string =>
  seconds <= 2 * hourSeconds
    ? unitFormat(language.locale, 'minute').format(Math.ceil(seconds / minuteSeconds))
    : unitFormat(language.locale, 'hour').format(Math.ceil(seconds / hourSeconds));

export const createSpeech = (language: Language, known: Values): Speech => {
  const { words, locale } = language;
  return {
    language,
    say: (key, more) => fillMarkup(words[key], { ...known, ...more }),
    text: (key, more) => fillText(words[key], { ...known, ...more }, language),
    plural: (key, count) => {
      const forms = words[key];
      const sentence = forms[pluralRules(locale).select(count)] ?? forms.other;
      return fillText(sentence, { count: decimalText(language, String(count)) }, language);
    },
    time: ms => html`<time datetime="${new Date(ms).toISOString()}" data-local>${timeFormat(locale).format(ms)}</time>`,
    duration: seconds => durationText(language, seconds),
  };
};
