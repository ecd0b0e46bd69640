import { type Html, html } from './html.ts';

/** As much of JSON Schema as the API's own schemas use. */
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
const isNullable = (schema: Schema): boolean => schema.anyOf?.some(branch => branch.type === 'null') ?? false;

/** Every property as a row of its own; nested ones follow their parent under a dotted path, as in `error.param`. */
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
    schema.uniqueItems ? 'none twice' : null,
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

const pathCell = (path: string): Html => {
  const leaf = path.lastIndexOf('.') + 1;
  return html`<code>${leaf === 0 ? null : html`<span class="parent">${path.slice(0, leaf)}</span><wbr>`}${path.slice(leaf)}</code>`;
};

/** `presence` says whether rows tell required from optional, or, for answers, only which may be absent. */
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

export const exampleIds = {
  payment: 'pay_01kf0fv2e0t4w9c2xk7m5hq8bn',
  endpoint: 'we_01kf0fv2e0b7e3nmz5t8r2vdkq',
  event: 'evt_01kf0fv2e0h2q6yv8s4jx3pwfa',
} as const;

const address = '0x52908400098527886E0F7030069857D2E4169EE7';
const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';

/** Values by name, so that an example reads like one real payment in the sandbox and not like noise. */
const valuesByName: Readonly<Record<string, unknown>> = {
  address,
  amount: '25.00',
  amountConfirmed: '0.00',
  amountReceived: '0.00',
  blockTimeSeconds: 2,
  caip19: `eip155:84532/erc20:${token}`,
  caip2: 'eip155:84532',
  chainId: 84532,
  checkedAt: '2026-01-15T09:30:00.000Z',
  checkoutUrl: `https://localhost:8444/checkout/${exampleIds.payment}`,
  contractAddress: token,
  currency: 'USDC',
  decimals: 6,
  delivered: true,
  durationMs: 48,
  environment: 'sandbox',
  eventId: exampleIds.event,
  events: ['*'],
  expiresAt: '2026-01-15T10:30:00.000Z',
  explorerUrl: 'https://sepolia.basescan.org',
  hasMore: false,
  id: exampleIds.endpoint,
  lagSeconds: 2,
  latestBlock: 36412805,
  limit: 20,
  metadata: { orderId: '6735' },
  minAmount: '0.000001',
  nativeCurrency: 'ETH',
  network: 'base',
  paymentUri: `ethereum:${token}@84532/transfer?address=${address}&uint256=25000000`,
  secret: 'whsec_dGhpcy1pcy1hbi1leGFtcGxlLXNlY3JldC0zMmJ5dGU=',
  slug: 'base',
  statusCode: 200,
  strays: [],
  symbol: 'USDC',
  total: 1,
  transactions: [],
  url: 'https://shop.example/webhooks/florin',
};

const namesByParent: Readonly<Record<string, string>> = { currencies: 'USD Coin' };

/** An answer as it would look, made from its schema. Nullable values without a name of their own are null. */
export const exampleOf = (schema: Schema, name = '', parent = ''): unknown => {
  if (schema.pattern?.startsWith('^pay_')) return exampleIds.payment;
  if (name === 'name') return namesByParent[parent] ?? 'Base Sepolia';
  if (Object.hasOwn(valuesByName, name)) return valuesByName[name];
  if (isNullable(schema)) return null;
  if (schema.const !== undefined) return schema.const;
  if (schema.examples) return schema.examples[0];
  if (schema.enum) return schema.enum[0];
  if (schema.items) return [exampleOf(schema.items, '', name)];
  if (schema.properties) {
    return Object.fromEntries(
      Object.entries(schema.properties).map(([key, value]) => [key, exampleOf(value, key, name || parent)]),
    );
  }
  if (schema.format === 'date-time') return '2026-01-15T09:30:00.000Z';
  if (schema.format === 'uri') return 'https://shop.example/orders/6735';
  return schema.type === 'integer' || schema.type === 'number' ? 0 : schema.type === 'boolean' ? true : 'text';
};

/** The smallest body that is accepted: what is required, or else the first thing there is. */
export const exampleBodyOf = (schema: Schema): Record<string, unknown> => {
  const names = schema.required?.length ? schema.required : Object.keys(schema.properties ?? {}).slice(0, 1);
  return Object.fromEntries(names.map(name => [name, exampleOf(schema.properties![name]!, name)]));
};

const jsonToken = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?/g;

/** JSON with its keys, texts and other values told apart. */
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
