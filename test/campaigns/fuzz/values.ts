import type { Random } from './random.ts';

/** Values as JSON text, so that what JSON cannot say in JavaScript can still be sent. */
export type Kind = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

const quote = (text: string): string => JSON.stringify(text);

// biome-ignore format: one list
const oddCharacters = [
  'a', 'Z', '0', ' ', '\t', '\n', '"', '\\', '/', '<script>', "'--", '%00', '{{7*7}}', '\u0001', '\u007f', '\u0085',
  '\u00a0', '\u0301', '\u200b', '\u200d', '\u200f', '\u202e', '\u2028', '\u2066', '\ufeff', '\ufffd', '\uffff', '١', '１', 'ſ', 'İ', 'ß',
  '漢', '👩‍👩‍👧', '𝟙', '\u{10ffff}', 'e\u0301\u0301\u0301',
];

/** At least `length` UTF-16 units of all that strings can hold but U+0000. */
export const oddText = (random: Random, length: number): string => {
  let text = '';
  while (text.length < length) text += random.pick(oddCharacters);
  return text;
};

const strings = [
  '""',
  '"null"',
  '"true"',
  '"[]"',
  '"{}"',
  '"0"',
  '"__proto__"',
  '"\\u0000"',
  '"NaN"',
  '"[object Object]"',
];
// biome-ignore format: one list
const numbers = [
  '0', '-0', '1', '-1', '0.1', '25', '3600', '1e999', '-1e999', '1e-999', '9007199254740993', '18446744073709551616',
  '123456789012345678901234567890', '0.30000000000000004', '1E400', '2147483648', '-2147483649',
];
const arrays = ['[]', '[[]]', '["25.00"]', '[null]', '[{}]', '[0]', '["*"]', '[[[[[[[[]]]]]]]]'];
// biome-ignore format: one list
const objects = [
  '{}', '{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}', '{"length":1}',
  '{"toString":null}', '{"valueOf":1}', '{"$ne":null}', '{"$gt":""}', '{"0":"a"}', '{"then":1}', '{"toJSON":1}', '{"type":"Buffer","data":[1]}',
];

const samples: Readonly<Record<Kind, (random: Random) => string>> = {
  string: random => (random.next() < 0.5 ? random.pick(strings) : quote(oddText(random, 1 + random.below(40)))),
  number: random =>
    random.next() < 0.7 ? random.pick(numbers) : String((random.next() - 0.5) * 10 ** random.below(60)),
  boolean: random => random.pick(['true', 'false']),
  null: () => 'null',
  array: random => (random.next() < 0.7 ? random.pick(arrays) : `[${'0,'.repeat(random.below(2_000))}0]`),
  object: random => random.pick(objects),
};
const kinds = Object.keys(samples) as Kind[];

/** A value of any kind but these. */
export const otherKind = (random: Random, accepted: readonly Kind[]): string =>
  samples[random.pick(kinds.filter(kind => !accepted.includes(kind)))](random);

export const anyValue = (random: Random): string => samples[random.pick(kinds)](random);

type Make = (random: Random) => string;
const texts = (...list: string[]): Make[] => list.map(text => () => quote(text));
const digits = (random: Random, count: number): string =>
  String(1 + random.below(9)) + Array.from({ length: count - 1 }, () => random.below(10)).join('');
const withNul: Make = random => `"${'x'.repeat(random.below(20))}\\u0000${'y'.repeat(random.below(20))}"`;
const longerThan =
  (characters: number): Make =>
  random =>
    quote(random.next() < 0.5 ? 'x'.repeat(characters + 1) : '𝟙'.repeat(characters + 1 + random.below(200)));

// biome-ignore format: one list
export const wrongAmounts: Make[] = [
  ...texts(
    '', '0', '0.00', '-0', '-1', '+1', '1e3', '1E3', '1e999', ' 1', '1 ', '1\n', '1,5', '1.', '.5', '01', '00.1', 'NaN', 'Infinity',
    '0x10', '0b1', '١٢', '１２', '1_000', '1.2.3', '½', '1n', '1f', '1\u200b', '\u202e1', '1\u0301', '12.1234567',
    '1000000000000000000000000000000.000001', '0.0000001', '1/2', '$1', '1 000', '\ufeff1', 'e', '-', '.',
  ),
  random => quote(digits(random, 32 + random.below(60))),
  random => quote(digits(random, 101 + random.below(5_000))),
  random => quote(`${digits(random, 3)}.${digits(random, 7 + random.below(80))}`),
  random => quote(`${digits(random, 2)}${random.pick(oddCharacters.filter(each => each !== '0'))}${digits(random, 2)}`),
  withNul,
];

// biome-ignore format: one list
export const wrongCurrencies: Make[] = [
  ...texts('', 'DOGE', 'usd', ' USDC', 'USDC ', 'USDC\n', 'U\u017fDC', 'ＵＳＤＣ', 'USDC\u0301', '__proto__', 'constructor', 'toString'),
  random => quote(oddText(random, 17 + random.below(50))),
  longerThan(100),
  withNul,
];

// biome-ignore format: one list
export const wrongNetworks: Make[] = [
  ...texts('', 'Base', 'BASE', 'base ', ' base', 'base\u0000', 'ethereum-sepolia', 'eip155:1', '__proto__', 'constructor', 'hasOwnProperty', '../base'),
  random => quote(`base${oddText(random, 1 + random.below(50))}`),
  longerThan(100),
  withNul,
];

export const wrongDescriptions: Make[] = [
  longerThan(1_000),
  withNul,
  random => quote(`${'x'.repeat(1_001)}${oddText(random, 900)}`),
];
export const wrongExternalIds: Make[] = [...texts(''), longerThan(255), withNul];

// biome-ignore format: one list
export const wrongExpiries: Make[] = [
  '0', '-0', '-1', '1.5', '0.1', '2592001', '1e7', '1e999', '-1e999', '1e-7', '9007199254740993', '18446744073709551616', '1e308', '3600.5', '-3600',
].map(text => () => text);

export const nested = (depth: number, random: Random): string => {
  const isArray = random.next() < 0.5;
  return (isArray ? '[' : '{"a":').repeat(depth) + (isArray ? '' : '1') + (isArray ? ']' : '}').repeat(depth);
};
export const wrongMetadata: Make[] = [
  random => `{"big":"${'x'.repeat(16_384 + random.below(30_000))}"}`,
  random => `{"a":${nested(16 + random.below(14), random)}}`,
  random => `{${Array.from({ length: 3_000 }, (_, index) => `"k${index}":${random.below(10)}`).join(',')}}`,
];

// biome-ignore format: one list
const wrongUrls = texts(
  '', 'x', '/relative', '//a.example/', 'javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'ftp://a.example/', 'file:///etc/passwd',
  'blob:https://a.example/x', 'https://', 'https:', 'https:///x', 'https:a.example', 'https://user:pw@a.example/', 'https://user@a.example/', 'http://a.example/',
  'https://a.example/ x', ' https://a.example/', 'https://a.example/\n', 'https://a.example/\tx', 'https://a.example\\@b.example/', 'https://a.example:99999/',
  'https://%zz/', 'https://[::1', 'https://a b/', 'https://a<b/', 'https://\u0000/', 'https://a.example/\u0000', 'https://1.2.3.4.5.6/', 'https://999.1.1.1/', 'null',
);
export const wrongRedirects: Make[] = [
  ...wrongUrls,
  random => quote(`https://a.example/${'x'.repeat(2_031 + random.below(3_000))}`),
];
// biome-ignore format: one list
export const wrongTargets: Make[] = [
  ...wrongRedirects,
  ...texts(
    'https://10.0.0.1/', 'https://169.254.169.254/latest/meta-data/', 'https://[::ffff:10.0.0.1]/', 'https://0x0a000001/', 'https://012.0.0.1/',
    'https://[fe80::1]/', 'https://100.64.0.1/', 'https://a.example:0/', 'https://@a.example/', 'https://a.example./', 'https://[64:ff9b::a00:1]/',
    'https://0/', 'https://255.255.255.255/', 'https://[::]/',
  ),
];

// biome-ignore format: one list
export const wrongEvents: Make[] = [
  '[]', '["nope"]', '["*","*"]', '[1]', '[null]', '[["*"]]', '[{}]', '["payment.created "]', '["PAYMENT.CREATED"]', '["__proto__"]', '[""]', '["*",0]',
].map(text => () => text);
wrongEvents.push(random => `[${Array.from({ length: 15 + random.below(500) }, () => '"*"').join(',')}]`);

// biome-ignore format: one list
export const wrongTimes: Make[] = [
  ...texts(
    '', 'yesterday', '2026', '2026-1-1', '2026-02-30', '2026-13-01', '2026-01-01T25:00:00Z', '2026-01-01T00:60:00Z', '2026-01-01T00:00:00+99:00',
    '12345', '-1', '0', 'NaN', '2026-01-01T00:00:00ZZ', '+2026-01-01', '2026/01/01', ' 2026-01-01', '2026-01-01 ', '２０２６-01-01',
  ),
  random => quote(`2026-01-01${oddText(random, 1 + random.below(30))}`),
  longerThan(64),
  withNul,
];

export const wrongWords = (...list: string[]): Make[] => [
  ...texts('', '__proto__', 'constructor', ...list),
  random => quote(`x${oddText(random, 1 + random.below(30))}`),
];
