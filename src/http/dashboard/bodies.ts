import { Type } from 'typebox';
import { longestPassword } from '../../core/dashboard/passwordRules.ts';

const closed = { additionalProperties: false } as const;

/** Longer than any that is taken, so that the refusal can say what is wrong; bounded, because each is hashed. */
export const password = Type.String({ minLength: 1, maxLength: 4 * longestPassword });
export const token = Type.String({ minLength: 1, maxLength: 100 });
export const name = Type.String({ minLength: 1, maxLength: 400 });
export const email = Type.String({ minLength: 1, maxLength: 400 });
export const code = Type.String({ minLength: 1, maxLength: 40 });
/** What a browser passes on from an authenticator: verified by what it is, not by its form. */
export const passkeyResponse = Type.Record(Type.String(), Type.Unknown());

export const body = <Properties extends Parameters<typeof Type.Object>[0]>(properties: Properties) =>
  Type.Object(properties, closed);
