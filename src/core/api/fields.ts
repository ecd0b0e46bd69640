import Type, { type TSchema } from 'typebox';

/** Parts of the schemas of the API. Each field has a description, which the reference shows. */

export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
/** PostgreSQL text cannot contain U+0000. */
export const storable = { pattern: '^[^\\u0000]*$' } as const;
export const strict = { additionalProperties: false } as const;

export const text = (description: string) => Type.String({ description });
export const whole = (description: string) => Type.Integer({ description });
export const choice = <T extends string>(values: readonly T[], description: string) =>
  Type.Enum([...values], { description });

export const url = (description: string) => Type.String({ maxLength: 2048, format: 'uri', description });
export const time = (description: string) => Type.String({ format: 'date-time', description });
/** A filter by time, which also accepts a date. */
export const dateOrTime = (description: string) => Type.String({ maxLength: 64, description });
export const amount = (description: string) =>
  Type.String({ pattern: '^[0-9]+\\.[0-9]{2,}$', examples: ['12.50'], description });

/** For calls without a body. An empty object is also accepted. */
export const nothing = Type.Object({}, strict);

export const finalityRule = choice(
  ['finalized', 'safe', 'depth'],
  'What makes a transfer final: a tag of the chain, or a number of blocks.',
);
