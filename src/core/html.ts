const markup = Symbol('markup');

/** Escaped markup. Only `html` creates it, so other text is always escaped. */
export type Html = { readonly [markup]: string };

type Part = Html | string | number | null | readonly Part[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeText = (text: string): string => text.replaceAll(/[&<>"']/g, character => entities[character]!);

const render = (part: Part): string => {
  if (part === null) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeText(String(part));
  return markup in part ? part[markup] : part.map(render).join('');
};

/** Escapes values for text and quoted attributes. Null renders as nothing. */
export const html = (literals: TemplateStringsArray, ...values: readonly Part[]): Html => ({
  [markup]: String.raw({ raw: literals }, ...values.map(render)),
});

export const markupOf = (page: Html): string => page[markup];
