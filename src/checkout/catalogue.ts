import type { en } from './languages/en.ts';

/** A sentence for each of the language's plural forms. */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** All sentences of a language: the English ones say which there are, so that a missing one is a type error. */
export type Catalogue = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural };

export type SentenceKey = { [Key in keyof Catalogue]: Catalogue[Key] extends string ? Key : never }[keyof Catalogue];
export type PluralKey = Exclude<keyof Catalogue, SentenceKey>;
