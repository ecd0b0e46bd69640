import { createRecentMap } from '../core/recentMap.ts';
import type { Catalogue } from './catalogue.ts';
import { ar } from './languages/ar.ts';
import { de } from './languages/de.ts';
import { en } from './languages/en.ts';
import { es } from './languages/es.ts';
import { fr } from './languages/fr.ts';
import { ja } from './languages/ja.ts';
import { ptBr } from './languages/ptBr.ts';
import { ru } from './languages/ru.ts';
import { tr } from './languages/tr.ts';
import { zhHans } from './languages/zhHans.ts';

export type Language = {
  readonly tag: string;
  /** The name of the language in that language. */
  readonly name: string;
  readonly dir: 'ltr' | 'rtl';
  /** For Intl. Digits are always 0 to 9, because wallets accept no others. */
  readonly locale: string;
  readonly words: Catalogue;
};

const language = (tag: string, name: string, words: Catalogue, dir: Language['dir'] = 'ltr'): Language => ({
  tag,
  name,
  dir,
  locale: `${tag}-u-nu-latn`,
  words,
});

const english = language('en', 'English', en);

export const languages: readonly Language[] = [
  english,
  language('es', 'Español', es),
  language('pt-BR', 'Português (Brasil)', ptBr),
  language('fr', 'Français', fr),
  language('de', 'Deutsch', de),
  language('zh-Hans', '简体中文', zhHans),
  language('ja', '日本語', ja),
  language('ru', 'Русский', ru),
  language('ar', 'العربية', ar, 'rtl'),
  language('tr', 'Türkçe', tr),
];

const primaryOf = (tag: string): string => tag.toLowerCase().split('-', 1)[0]!;

/** By primary subtag: any Portuguese or Chinese is closer than English. */
const byPrimary = new Map(languages.map(each => [primaryOf(each.tag), each]));
const nearest = (tag: string): Language | undefined => byPrimary.get(primaryOf(tag));

/** No real browser sends a longer header. */
const longestHeader = 1000;

const wishesOf = (header: string): string[] =>
  header
    .split(',')
    .map((entry, place) => {
      const [tag = '', ...parameters] = entry.split(';').map(part => part.trim());
      const quality = parameters.find(parameter => parameter.toLowerCase().startsWith('q='));
      const weight = quality === undefined ? 1 : Number(quality.slice(2));
      return { tag, place, weight: Number.isNaN(weight) ? 0 : weight };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || a.place - b.place)
    .map(({ tag }) => tag);

const bestOf = (header: string): Language => {
  for (const wish of wishesOf(header)) {
    const found = nearest(wish);
    if (found) return found;
  }
  return english;
};

/** Cached, because browsers send the same few headers and parsing one costs a tenth of a page. */
const bestByHeader = createRecentMap<Language>(1_000);

/** A header that is too long is cut and not cached: a slice would keep the whole string in memory. */
const bestByBrowser = (header: string): Language => {
  if (header.length > longestHeader) return bestOf(header.slice(0, longestHeader));
  const known = bestByHeader.get(header);
  if (known) return known;
  const best = bestOf(header);
  bestByHeader.set(header, best);
  return best;
};

/** The requested language, otherwise the browser's preferred one, otherwise English. */
export const pickLanguage = (asked: string | undefined, acceptLanguage = ''): Language => {
  const named = asked === undefined ? undefined : nearest(asked);
  return named ?? bestByBrowser(acceptLanguage);
};
