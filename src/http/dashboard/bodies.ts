import { Type } from 'typebox';
import { longestPassword } from '../../core/access/passwordRules.ts';

const closed = { additionalProperties: false } as const;

/**
 * Allows longer passwords than are valid, so that the error can explain the limit. Limited, because each one is hashed.
 */
export const password = Type.String({ minLength: 1, maxLength: 4 * longestPassword });
export const token = Type.String({ minLength: 1, maxLength: 100 });
export const name = Type.String({ minLength: 1, maxLength: 400 });
export const email = Type.String({ minLength: 1, maxLength: 400 });
export const code = Type.String({ minLength: 1, maxLength: 40 });
/** The response of an authenticator. Its contents are verified later, so its schema is open. */
export const passkeyResponse = Type.Record(Type.String(), Type.Unknown());

export const body = <Properties extends Parameters<typeof Type.Object>[0]>(properties: Properties) =>
  Type.Object(properties, closed);
