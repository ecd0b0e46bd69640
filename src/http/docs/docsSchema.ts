import { type Html, html } from '../../core/html.ts';

/** The subset of JSON Schema that the API uses. */
export type Schema = {
  type?: string;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  description?: string;
  examples?: readonly unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
};

export type Field = { path: string; schema: Schema; required: boolean; description?: string };

const notNull = (schema: Schema): Schema => schema.anyOf?.find(branch => branch.type !== 'null') ?? schema;
export const isNullable = (schema: Schema): boolean => schema.anyOf?.some(branch => branch.type === 'null') ?? false;

/** Lists every property. Nested properties follow their parent with a dotted path, for example `error.param`. */
export const fieldsOf = (schema: Schema, prefix = ''): Field[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = `${prefix}${name}`;
    const inner = notNull(property);
    const nested = inner.items ? fieldsOf(inner.items, `${path}[].`) : fieldsOf(inner, `${path}.`);
    return [{ path, schema: property, required: schema.required?.includes(name) ?? false }, ...nested];
  });

const typeName = (schema: Schema): string => {
  const inner = notNull(schema);
  if (isNullable(schema)) return `${typeName(inner)} or null`;
  if (inner.items) return `array of ${typeName(inner.items)}`;
  if (inner.enum) return typeof inner.enum[0];
  return inner.type ?? 'any';
};

const count = (value: number): string => value.toLocaleString('en-US');

const range = (minimum: number | undefined, maximum: number | undefined, unit: string): string | null => {
  const isBounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  if (minimum !== undefined && isBounded) return `${count(minimum)} to ${count(maximum)}${unit}`;
  if (isBounded) return `at most ${count(maximum)}${unit}`;
  return minimum === undefined ? null : `at least ${count(minimum)}${unit}`;
};

const formats: Readonly<Record<string, string>> = { uri: 'absolute URL', 'date-time': 'ISO 8601, UTC' };
const storablePattern = '^[^\\u0000]*$';

const limitsOf = (schema: Schema): string[] =>
  [
    schema.format === undefined ? null : (formats[schema.format] ?? schema.format),
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    schema.uniqueItems ? 'no duplicates' : null,
    schema.pattern === storablePattern ? 'no U+0000' : null,
    schema.const === undefined ? null : `always ${JSON.stringify(schema.const)}`,
    schema.default === undefined ? null : `default ${JSON.stringify(schema.default)}`,
  ].filter(limit => limit !== null);

const describe = ({ schema, description }: Field): Html => {
  const inner = notNull(schema);
  const said = description ?? schema.description ?? inner.description;
  const limits = limitsOf(inner).join(' · ');
  const choices = inner.enum ?? inner.items?.enum;
  const pattern = inner.pattern === storablePattern ? undefined : inner.pattern;
  return html`${said === undefined ? null : html`<p>${said}</p>`}${
    choices === undefined
      ? null
      : html`<p class="choices">${inner.items ? 'Any of' : 'One of'} ${choices.map(choice => html`<code>${String(choice)}</code> `)}</p>`
  }${pattern === undefined ? null : html`<p class="limits">Matches <code>${pattern}</code></p>`}${
    limits === '' ? null : html`<p class="limits">${limits[0]!.toUpperCase() + limits.slice(1)}</p>`
  }`;
};

/** Allows line breaks between the names of a path, but not inside a name. */
const pathCell = (path: string): Html => {
  const names = path.split('.');
  return html`<code>${names.map((name, i) =>
    i < names.length - 1 ? html`<span class="parent">${name}.</span><wbr>` : html`<span>${name}</span>`,
  )}</code>`;
};

/** For requests, rows show required or optional. For responses, they show only which fields may be absent. */
export const fieldTable = (caption: string, fields: readonly Field[], presence: 'request' | 'answer'): Html => {
  const badge = ({ required }: Field): Html | null => {
    if (presence === 'answer') return required ? null : html` <span class="optional">may be absent</span>`;
    return required ? html` <span class="required">required</span>` : html` <span class="optional">optional</span>`;
  };
  return html`<table class="fields">
<caption>${caption}</caption>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning and limits</th></tr></thead>
<tbody>${fields.map(
    field => html`<tr><th scope="row">${pathCell(field.path)}${badge(field)}</th><td class="type">${typeName(
      field.schema,
    )}</td><td>${describe(field)}</td></tr>
`,
  )}</tbody>
</table>`;
};

const jsonToken = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?/g;

/** JSON with markup for keys, strings and other values. */
export const jsonMarkup = (value: unknown): Html => {
  const text = JSON.stringify(value, null, 2);
  const parts: (Html | string)[] = [];
  let at = 0;
  for (const match of text.matchAll(jsonToken)) {
    const [whole, quoted, colon] = match;
    const kind = colon ? 'key' : quoted ? 'text' : 'value';
    parts.push(text.slice(at, match.index), html`<span class="${kind}">${quoted ?? whole}</span>`, colon ?? '');
    at = match.index + whole.length;
  }
  return html`${parts}${text.slice(at)}`;
};
