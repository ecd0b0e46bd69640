import { apiObjects } from '../../core/api/apiObjects.ts';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

const mapped = (value: unknown, change: (inner: unknown) => unknown): unknown => {
  if (Array.isArray(value)) return value.map(change);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]));
};

/** Two schemas with this text are the same object, although each may be described for its own place. */
const textOf = ({ description: _, ...schema }: Json): string => JSON.stringify(schema);
const objects = apiObjects as Readonly<Record<string, unknown>> as Readonly<Record<string, Json>>;
const names = new Map(Object.entries(objects).map(([name, schema]) => [textOf(schema), name]));

/** Validators do without the type of a list of strings. Many generators need it. */
const typed = (schema: unknown): unknown =>
  isObject(schema) && Array.isArray(schema.enum) && !('type' in schema) ? { type: 'string', ...schema } : schema;

const inside = (schema: unknown): unknown => typed(mapped(schema, withReferences));

/** The schema, with references in place of the API's objects. */
export const withReferences = (schema: unknown): unknown => {
  const name = isObject(schema) ? names.get(textOf(schema)) : undefined;
  if (name === undefined) return inside(schema);
  const { description } = schema as Json;
  const isSaid = description === undefined || description === objects[name]!.description;
  return { $ref: `#/components/schemas/${name}`, ...(isSaid ? {} : { description }) };
};

export const componentSchemas = (): Record<string, unknown> =>
  Object.fromEntries(Object.entries(objects).map(([name, schema]) => [name, inside(schema)]));

/** The document with the content of each reference in its place. What is said beside a reference takes precedence. */
export const withoutReferences = <T>(document: T): T => {
  const expand = (value: unknown): unknown => {
    if (!isObject(value) || typeof value.$ref !== 'string') return mapped(value, expand);
    const { $ref, ...beside } = value;
    const target = ($ref as string)
      .split('/')
      .slice(1)
      .reduce<unknown>((at, part) => (at as Json)[part], document);
    return { ...(expand(target) as Json), ...beside };
  };
  return expand(document) as T;
};
