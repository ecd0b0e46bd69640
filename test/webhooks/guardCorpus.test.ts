import { isIP, SocketAddress } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bareHost, checkWebhookUrl, classifyAddress, isLoopbackHost } from '../../src/webhooks/guard.ts';
import { rounds } from '../support/rounds.ts';
import {
  corpusAddresses,
  hopelessHosts,
  localhostSpellings,
  mereNames,
  type Spelling,
  spellingsOf,
} from './addressSpellings.ts';
import { type Address, expectedClass, purposeOf, readAddress, specialBlocks } from './specialAddresses.ts';

const all = corpusAddresses().flatMap(spellingsOf);
const corpus: readonly Spelling[] = [...new Map(all.map(spelling => [spelling.host, spelling])).values()];

/** Ports, paths and letters around the host that do not change the target. */
const surroundings: readonly ((host: string) => string)[] = [
  host => `https://${host}/`,
  host => `https://${host}`,
  host => `HTTPS://${host}:443/hook`,
  host => `https://${host}:80?to=https://example.com/`,
  host => `https://${host}:00065535/@example.com/`,
  host => `https://${host}:#@example.com`,
  host => `hTtPs://${host}:1/..//a%2f`,
];

const both = (url: string) => ({
  otherwise: checkWebhookUrl(url, { allowLoopback: false }) === null,
  withLoopback: checkWebhookUrl(url, { allowLoopback: true }) === null,
});

const allowed = {
  public: { otherwise: true, withLoopback: true },
  loopback: { otherwise: false, withLoopback: true },
  refused: { otherwise: false, withLoopback: false },
};
const never = allowed.refused;

/** Shows no more than a screenful, but how many there are. */
const expectNone = (wrong: readonly unknown[]): void => {
  expect({ count: wrong.length, first: wrong.slice(0, 20) }).toEqual({ count: 0, first: [] });
};

const same = (a: Address, b: Address): boolean => a.bits === b.bits && a.value === b.value;
const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

describe('the corpus', () => {
  test('holds thousands of spellings, of addresses of every purpose', () => {
    expect(corpus.length).toBeGreaterThan(10_000);
    const purposes = new Set(corpus.map(spelling => purposeOf(spelling.address)));
    const wanted = [...specialBlocks.map(each => each.name), 'public', 'metadata', 'unallocated'];
    expect([...new Set(wanted)].filter(name => !purposes.has(name))).toEqual([]);
    for (const kind of ['public', 'loopback', 'refused']) {
      const spellings = corpus.filter(spelling => expectedClass(spelling.address) === kind);
      expect(spellings.length).toBeGreaterThan(200);
      expect(new Set(spellings.map(spelling => spelling.how)).size).toBeGreaterThan(40);
    }
  });

  test('means by each spelling what the URL parser reads', () => {
    const wrong = corpus.filter(({ host, address }) => {
      const url = URL.parse(`https://${host}/`);
      return url === null || !same(readAddress(bareHost(url.hostname)), address);
    });
    expectNone(wrong.map(({ host, how }) => `${how}: ${host}`));
  });
});

describe('the guard agrees with an independent classifier', () => {
  test('on each host as the URL parser writes it', () => {
    const wrong = corpus.filter(({ host, address }) => {
      const { hostname } = new URL(`https://${host}/`);
      const kind = expectedClass(address);
      return classifyAddress(bareHost(hostname)) !== kind || isLoopbackHost(hostname) !== (kind === 'loopback');
    });
    expectNone(wrong);
  });

  test('on each URL, whatever stands around the host', () => {
    const wrong = corpus.flatMap(({ host, address }, index) => {
      const expected = allowed[expectedClass(address)];
      // Two for each host, in turn: all pairs would take long and show no more.
      const urls = [0, 3].map(step => surroundings[(index + step) % surroundings.length]!(host));
      return urls.filter(url => !equal(both(url), expected));
    });
    expectNone(wrong);
  });

  test('on each URL without TLS: loopback alone, and only where it is allowed', () => {
    const wrong = corpus.flatMap(({ host, address }) => {
      const expected = expectedClass(address) === 'loopback' ? allowed.loopback : never;
      return [`http://${host}/`, `HTTP://${host}:8080`].filter(url => !equal(both(url), expected));
    });
    expectNone(wrong);
  });

  test('on each URL that names somebody before the host: never', () => {
    const urls = corpus.flatMap(({ host }) => [`https://user:secret@${host}/`, `https://@${host}`]);
    expectNone(urls.filter(url => !equal(both(url), never)));
  });

  // A socket connects to a literal without a lookup, using the system's parser and not the guard's.
  test('on the address that a socket would take each text for', () => {
    const wrong = corpus.filter(({ host, address }) => {
      const text = bareHost(host);
      const family = isIP(text);
      if (family === 0) return classifyAddress(text) !== 'refused';
      const read = new SocketAddress({ address: text, family: family === 4 ? 'ipv4' : 'ipv6' }).address;
      return !same(readAddress(read), address) || classifyAddress(text) !== expectedClass(address);
    });
    expectNone(wrong);
    expect(corpus.filter(({ host }) => isIP(bareHost(host)) !== 0).length).toBeGreaterThan(2_000);
  });

  test('on the names of loopback, on other names, and on what is no address', () => {
    for (const around of surroundings) {
      expectNone(localhostSpellings.filter(host => !equal(both(around(host)), allowed.loopback)));
      expectNone(mereNames.filter(host => !equal(both(around(host)), allowed.public)));
    }
    expectNone(hopelessHosts.filter(host => !equal(both(`https://${host}/`), never)));
  });
});

describe('the guard agrees on addresses drawn at random', () => {
  const bytesOf = ({ bits, value }: Address): Uint8Array =>
    Uint8Array.from({ length: bits / 8 }, (_, index) => Number((value >> BigInt(bits - 8 - 8 * index)) & 0xffn));

  const anywhere = fc.oneof(
    fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value): Address => ({ bits: 32, value })),
    fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((value): Address => ({ bits: 128, value })),
  );
  // Most of IPv6 is far from anything special, so addresses are also drawn from inside and close to each block.
  const nearby = fc.constantFrom(...specialBlocks).chain(({ bits, first, last }) => {
    const size = last - first + 1n;
    const lowest = first - size < 0n ? 0n : first - size;
    const highest = last + size >= 1n << BigInt(bits) ? (1n << BigInt(bits)) - 1n : last + size;
    return fc.bigInt({ min: lowest, max: highest }).map((value): Address => ({ bits, value }));
  });
  const address = fc.oneof(anywhere, nearby, nearby);

  test('as bytes and in every spelling', () => {
    fc.assert(
      fc.property(address, each => {
        const kind = expectedClass(each);
        expect(classifyAddress(bytesOf(each))).toBe(kind);
        for (const { host } of spellingsOf(each)) {
          const url = `https://${host}/`;
          expect([url, both(url)]).toEqual([url, allowed[kind]]);
        }
      }),
      { numRuns: rounds(100, 1_000) },
    );
  });

  test('and never reads another address in a text than a socket would', () => {
    const character = fc.constantFrom(...'0123456789abcdefF:::...%x[]');
    const garbled = fc.tuple(address, fc.nat(), fc.array(character, { maxLength: 3 })).map(([each, at, inserted]) => {
      const spellings = spellingsOf(each).map(({ host }) => bareHost(host));
      const text = spellings[at % spellings.length]!;
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + inserted.join('') + text.slice(cut + (at % 2));
    });
    fc.assert(
      fc.property(garbled, text => {
        const family = isIP(text);
        // A zone index is part of no public address.
        if (family === 0 || text.includes('%')) {
          expect(classifyAddress(text)).toBe('refused');
          return;
        }
        const read = new SocketAddress({ address: text, family: family === 4 ? 'ipv4' : 'ipv6' }).address;
        expect([text, classifyAddress(text)]).toEqual([text, expectedClass(readAddress(read))]);
      }),
      { numRuns: rounds(1000, 10_000) },
    );
  });
});
