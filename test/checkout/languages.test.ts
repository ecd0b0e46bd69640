import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Catalogue } from '../../src/checkout/catalogue.ts';
import { en } from '../../src/checkout/languages/en.ts';
import { languages, pickLanguage } from '../../src/checkout/languages.ts';

const keys = Object.keys(en) as (keyof Catalogue)[];
const namesIn = (sentence: string): string[] => [...sentence.matchAll(/\{([^}]*)\}/g)].map(match => match[1]!).sort();
/** Each name once: a language may repeat the merchant's name where another says "they". */
const distinct = (names: readonly string[]): string[] => [...new Set(names)].sort();

test('there are ten languages, each with its own name', () => {
  expect(languages.map(({ tag }) => tag)).toEqual(['en', 'es', 'pt-BR', 'fr', 'de', 'zh-Hans', 'ja', 'ru', 'ar', 'tr']);
  expect(new Set(languages.map(({ name }) => name)).size).toBe(languages.length);
  expect(languages.filter(({ dir }) => dir === 'rtl').map(({ tag }) => tag)).toEqual(['ar']);
});

test.each(languages)('$tag has every sentence, and nothing else', ({ words }) => {
  expect(Object.keys(words).sort()).toEqual([...keys].sort());
});

test.each(languages)('$tag has the same values in every sentence', ({ words }) => {
  for (const key of keys) {
    const [english, own] = [en[key], words[key]];
    if (typeof english === 'string')
      expect([key, distinct(namesIn(own as string))]).toEqual([key, distinct(namesIn(english))]);
    else {
      const forms = own as Exclude<Catalogue[keyof Catalogue], string>;
      expect([key, namesIn(forms.other)]).toEqual([key, namesIn(english.other)]);
      // Arabic has words for one minute and for two minutes, without a digit.
      for (const form of Object.values(forms))
        expect(namesIn(english.other)).toEqual(expect.arrayContaining(namesIn(form)));
    }
  }
});

test.each(languages)('$tag has a form for each of its plurals', ({ tag, words }) => {
  const categories = [...new Intl.PluralRules(tag).resolvedOptions().pluralCategories].sort();
  for (const key of keys) {
    const forms = words[key];
    if (typeof forms !== 'string') expect([key, Object.keys(forms).sort()]).toEqual([key, categories]);
  }
});

test.each(languages)('$tag is written with care', ({ words }) => {
  const sentences = keys.flatMap(key => {
    const own = words[key];
    return typeof own === 'string' ? [own] : Object.values(own);
  });
  for (const sentence of sentences) {
    expect(sentence).toBe(sentence.trim());
    expect(sentence).not.toBe('');
    expect(sentence).toBe(sentence.normalize('NFC'));
    expect(sentence).not.toMatch(/ {2}|\{\}|[<>&]|\.\.\./);
  }
});

test.each(languages.filter(({ tag }) => tag !== 'en'))('$tag is not English', ({ words }) => {
  const left = keys.filter(key => {
    const english = en[key];
    return typeof english === 'string' && english.split(' ').length > 3 && words[key] === english;
  });
  expect(left).toEqual([]);
});

test.each([
  [undefined, undefined, 'en'],
  [undefined, '', 'en'],
  [undefined, '*', 'en'],
  [undefined, 'de', 'de'],
  [undefined, 'de-CH,fr;q=0.9', 'de'],
  [undefined, 'nl,fr;q=0.5,ru;q=0.7', 'ru'],
  [undefined, 'es;q=0,tr', 'tr'],
  [undefined, 'es;q=nonsense,ja;q=0.1', 'ja'],
  [undefined, 'pt-PT', 'pt-BR'],
  [undefined, 'zh-CN,zh;q=0.9,en;q=0.8', 'zh-Hans'],
  [undefined, 'ZH-hant-TW', 'zh-Hans'],
  [undefined, 'AR-eg', 'ar'],
  [undefined, `${'x,'.repeat(100_000)}de`, 'en'],
  ['fr', 'de', 'fr'],
  ['pt-br', 'de', 'pt-BR'],
  ['xx', 'de', 'de'],
  ['', 'de', 'de'],
  ['__proto__', undefined, 'en'],
])('asked for %j with %j, it speaks %s', (asked, header, tag) => {
  expect(pickLanguage(asked, header).tag).toBe(tag);
});

test('a header that is too long counts as far as it goes, and none of it is kept', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  // As many as the cache holds; caching them would take 15 MB.
  for (let i = 0; i < 1_000; i++) expect(pickLanguage(undefined, `de,${`${i},`.repeat(5_000)}`).tag).toBe('de');
  expect(used() - before).toBeLessThan(5_000_000);
  expect(pickLanguage(undefined, `${'xx,'.repeat(400)}de`).tag).toBe('en');
});
