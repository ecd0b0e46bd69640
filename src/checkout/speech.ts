import { type Html, html } from '../core/html.ts';
import type { PluralKey, SentenceKey } from './catalogue.ts';
import type { Language } from './languages.ts';

/** What stands in a sentence's braces. */
export type Values = Readonly<Record<string, string>>;

/** A language, and what is known of the payment, so that a sentence is named and nothing else. */
export type Speech = {
  readonly language: Language;
  /** With each value set apart, so that a name written from right to left turns nothing around it. */
  say(key: SentenceKey, more?: Values): Html;
  /** For titles and attributes. */
  text(key: SentenceKey, more?: Values): string;
  plural(key: PluralKey, count: number): string;
  /** A moment in UTC; the script puts it into the payer's zone. */
  time(ms: number): Html;
  duration(seconds: number): string;
};

const sums: ReadonlySet<string> = new Set(['amount', 'received', 'remaining', 'extra']);
/** What is longer than these is written smaller, and at last may break across lines. */
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

/** Every second piece is the name of a value. */
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

/** Where there can be no markup, characters set a value apart, and it may not hold such characters itself. */
const setApart = (value: string, language: Language): string => {
  const plain = value.replaceAll(turning, '');
  return language.dir === 'rtl' || rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
};

const fillText = (sentence: string, values: Values, language: Language): string =>
  piecesOf(sentence)
    .map((piece, index) => (index % 2 === 0 ? piece : setApart(valueFor(values, piece), language)))
    .join('');

/** Making one of Intl's formats takes longer than using it a thousand times. */
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

/** All digits of the decimal: it goes to Intl as text and never becomes a float. */
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
