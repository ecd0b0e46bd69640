import type { en } from './languages/en.ts';

/** One sentence per plural form of the language. */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** All sentences of a language. The English catalogue defines the keys, so a missing sentence is a type error. */
export type Catalogue = { readonly [Key in keyof typeof en]: (typeof en)[Key] extends string ? string : Plural };

export type SentenceKey = { [Key in keyof Catalogue]: Catalogue[Key] extends string ? Key : never }[keyof Catalogue];
export type PluralKey = Exclude<keyof Catalogue, SentenceKey>;
