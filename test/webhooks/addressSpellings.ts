import { type Address, globalUnicast, metadataServices, readAddress, specialBlocks } from './specialAddresses.ts';

/** One way to write an address where a URL has its host. */
export type Spelling = { readonly host: string; readonly how: string; readonly address: Address };

/** Every special block at its ends, in its middle and on either side, and addresses of every kind that hides another. */
export const corpusAddresses = (): Address[] => {
  const edges = [...specialBlocks, ...metadataServices, globalUnicast].flatMap(({ bits, first, last }) =>
    [first, first + 1n, (first + last) / 2n, last - 1n, last, first - 1n, last + 1n]
      .filter(value => value >= 0n && value < 1n << BigInt(bits))
      .map(value => ({ bits, value })),
  );
  const hidden = ['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1', '0.0.0.0', '255.255.255.255', '8.8.8.8']
    .map(text => readAddress(text).value)
    .flatMap(embeddings);
  const others = [
    ...['1.1.1.1', '8.8.8.8', '93.184.216.34', '127.0.0.1', '127.1.2.3', '10.1.2.3', '192.168.10.20', '172.20.0.5'],
    ...['2606:4700:4700::1111', '2a00:1450:4001::1', '2400:0:0:1::1', '2d00::1', 'fe80::1', 'fd12:3456:789a::1'],
  ].map(readAddress);
  const all = [...edges, ...hidden, ...others];
  return [...new Map(all.map(address => [`${address.bits} ${address.value}`, address])).values()];
};

/** The addresses of IPv6 that lead, or once led, to one of IPv4. */
const embeddings = (inner: bigint): Address[] => {
  const at = (prefix: string, shift: bigint, extra = 0n): Address => ({
    bits: 128,
    value: readAddress(prefix).value | (inner << shift) | extra,
  });
  return [
    at('::', 0n),
    at('::ffff:0:0', 0n),
    at('::ffff:0:0:0', 0n),
    at('64:ff9b::', 0n),
    at('64:ff9b:1::', 0n),
    at('64:ff9b:1:fffe::', 0n),
    at('2002::', 80n),
    at('2002::', 80n, 1n),
    // Teredo's client is written inverted, its server is not.
    at('2001::', 64n),
    { bits: 128, value: readAddress('2001::').value | (inner ^ 0xffffffffn) },
  ];
};

export const spellingsOf = (address: Address): Spelling[] =>
  (address.bits === 32 ? ipv4Spellings(Number(address.value)) : ipv6Spellings(address.value)).map(
    ([how, host]): Spelling => ({ host, how, address }),
  );

type Named = readonly [how: string, host: string];

const radices: readonly (readonly [how: string, write: (part: number) => string])[] = [
  ['decimal', part => String(part)],
  ['hex', part => `0x${part.toString(16)}`],
  ['upper hex', part => `0X${part.toString(16).toUpperCase()}`],
  ['octal', part => `0${part.toString(8)}`],
  ['padded hex', part => `0x${part.toString(16).padStart(12, '0')}`],
  ['padded octal', part => part.toString(8).padStart(20, '0')],
];

const ipv4Spellings = (value: number): Named[] => {
  const shapes = [1, 2, 3, 4].flatMap(count =>
    radices.map(([how, write]): Named => [`${how}, ${count} parts`, partsOf(value, count).map(write).join('.')]),
  );
  const mixed = [2, 3, 4].flatMap(count =>
    [0, 1, 2].map((turn): Named => {
      const text = partsOf(value, count).map((part, index) => radices[(index + turn) % radices.length]![1](part));
      return [`mixed radices, ${count} parts`, text.join('.')];
    }),
  );
  const dotted = partsOf(value, 4).join('.');
  const plain = [dotted, partsOf(value, 2).join('.'), `0x${value.toString(16)}`];
  // "0x" without a digit is zero.
  const bare: Named[] = dotted.endsWith('.0') ? [['hex without digits', dotted.replace(/0$/, '0x')]] : [];
  return [...shapes, ...mixed, ...bare, ...plain.flatMap(disguises)];
};

/** All but the last part are a byte each; the last takes what is left. */
const partsOf = (value: number, count: number): number[] => {
  const bytes = [24, 16, 8].slice(0, count - 1).map(shift => (value >>> shift) & 0xff);
  return [...bytes, value % 256 ** (5 - count)];
};

const codePoint = (text: string): number => text.codePointAt(0)!;
const digitsFrom = (zero: number, text: string): string =>
  text.replace(/[0-9]/g, digit => String.fromCodePoint(zero + Number(digit)));

/** What the URL parser sees through: escapes, other scripts' forms of the same characters, invisible ones. */
const disguises = (text: string): Named[] => {
  const escaped = (character: string): string => `%${codePoint(character).toString(16).padStart(2, '0')}`;
  const wide = text.replace(/[!-~]/g, character => String.fromCodePoint(codePoint(character) + 0xfee0));
  const circled = text.replace(/[0-9]/g, digit => (digit === '0' ? '⓪' : String.fromCodePoint(0x245f + Number(digit))));
  const raised = text.replace(/[0-9]/g, digit => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]!);
  return [
    ['percent-encoded', text.replace(/./g, escaped)],
    ['percent-encoded, upper case', text.replace(/./g, escaped).toUpperCase()],
    ['percent-encoded dots', text.replaceAll('.', '%2E')],
    ['percent-encoded first character', `${escaped(text[0]!)}${text.slice(1)}`],
    ['full-width', wide],
    ['full-width, percent-encoded', encodeURIComponent(wide)],
    ['circled digits', circled],
    ['raised digits', raised],
    ['bold digits', digitsFrom(0x1d7ce, text)],
    ['monospaced digits', digitsFrom(0x1d7f6, text)],
    ['ideographic dots', text.replaceAll('.', '。')],
    ['full-width dots', text.replaceAll('.', '．')],
    ['half-width dots', text.replaceAll('.', '｡')],
    ['a dot at the end', `${text}.`],
    ['an ideographic dot at the end', `${text}。`],
    ['a soft hyphen', `${text[0]}\u00ad${text.slice(1)}`],
    ['a zero-width space', `\u200b${text}`],
    ['a word joiner', `${text}\u2060`],
  ];
};

const ipv6Spellings = (value: bigint): Named[] => {
  const groups = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  const hex = groups.map(group => group.toString(16));
  const quad = partsOf(Number(value & 0xffffffffn), 4).join('.');
  const plain: Named[] = [
    ['whole', hex.join(':')],
    ['padded', hex.map(group => group.padStart(4, '0')).join(':')],
    ...compressions(hex).map((text): Named => ['compressed', text]),
    ['embedded dotted quad', [...hex.slice(0, 6), quad].join(':')],
    ...compressions([...hex.slice(0, 6), quad]).map((text): Named => ['compressed, embedded dotted quad', text]),
  ];
  const upper = plain.map(([how, text]): Named => [`${how}, upper case`, text.toUpperCase()]);
  return [...plain, ...upper].map(([how, text]): Named => [how, `[${text}]`]);
};

/** `::` in place of each run of zeros, whole or part of it, as no serialiser would write it but every parser reads. */
const compressions = (groups: readonly string[]): string[] => {
  const found: string[] = [];
  for (let start = 0; start < groups.length; start++) {
    for (let end = start + 1; end <= groups.length && groups[end - 1] === '0'; end++) {
      found.push(`${groups.slice(0, start).join(':')}::${groups.slice(end).join(':')}`);
    }
  }
  return found;
};

const words = (text: string): string[] => text.trim().split(/[ \n]+/);

/** Names that are loopback by definition. */
export const localhostSpellings: readonly string[] = words(`
  localhost LOCALHOST LocalHost loc%61lhost %6C%6F%63%61%6C%68%6F%73%74 ｌｏｃａｌｈｏｓｔ ⓛocalhost localhoſt
  lo\u00adcalhost local\u200bhost api.localhost a.b.LOCALHOST api。localhost 127.0.0.1.localhost
`);

/** Names, whatever address they seem to spell: only what they resolve to can be judged. */
export const mereNames: readonly string[] = words(`
  example.com 127.0.0.1.example.com 10.0.0.1.nip.example localhost.example.com notlocalhost x7f000001.example
  0x7f000001.example 169-254-169-254.example a127.0.0.1a 1e9 127.0.0.1x o177.x 127.0.0.0x1g -1 +1 127.-1 127.0.0.1-
`);

/** What looks like a host and is none, or is one in a spelling that nobody needs. */
export const hopelessHosts: readonly string[] = [
  ...words(`
    [fe80::1%25eth0] [fe80::1%eth0] [fe80::1%251] [::1%25lo] [::1%lo] [2606:4700::1%25eth0] [2606:4700::1%0]
    [::ffff:127.0.0.1%25lo]

    8.8.8.8.. 127.0.0.1.. localhost. localhost%2e localhost。 localhost.. example.com. .

    256.1.1.1 1.256.1.1 1.1.1.256 127.0.0.256 127.16777216 127.0.65536 4294967296 0x100000000 040000000000
    99999999999999999999 1.2.3.4.5 0.0.0.0.0 08.1.1.1 1.1.1.09 0x7g.1 1..1 .1 foo.0x4 example.1 1e3.1
    ۱۲۷.0.0.1 १२७.0.0.1 %2531 127%252e0.0.1

    8.8.8.8:0 8.8.8.8:-1 8.8.8.8:x 8.8.8.8:65536 8.8.8.8:80:80 127.0.0.1:0 [2606:4700::1]:0 [::1]:0

    ::1 fe80::1 [::1 ::1] [] [:] [:::] [1::2::3] [1:2:3:4:5:6:7:8:9] [1:2:3:4:5:6:7] [00001::1] [g::1] [::1.2.3]
    [::0177.0.0.1] [::127.1] [::0x7f.0.0.1] [1.2.3.4] [::1.2.3.4:5] [::256.0.0.1] [::１] [%3A%3A1] %5B::1%5D [::1].
    [::1]x [v1.x] [localhost] [[::1]]

    user@8.8.8.8 user:secret@8.8.8.8 @8.8.8.8 :@8.8.8.8 8.8.8.8@127.0.0.1 8.8.8.8:443@127.0.0.1 a@b@8.8.8.8
    user@localhost %40@8.8.8.8 user%3asecret@8.8.8.8 127.0.0.1@8.8.8.8 [::1]@8.8.8.8 x@[2606:4700::1]

    8.8.8.8%00 8.8.8.8%20 8.8.8.8%0a 8.8.8.8%2f 8.8.8.8%23 8.8.8.8%3a80 8.8.8.8%40x 8.8.8.8|x 8.8.8.8\\@127.0.0.1
    8.8.8.8\\.example.com
  `),
  ...[
    ' 8.8.8.8',
    '8.8.8.8 ',
    '8.8\t.8.8',
    '8.8.8.8\n',
    '8.8.8.8\u0000',
    '\ufeff8.8.8.8',
    '\u00a08.8.8.8',
    '[::1 ]',
    '',
  ],
];
