import Type, { type Static } from 'typebox';
import { type ErrorCode, errorStatus } from '../errors.ts';
import { choice, text } from './fields.ts';

/** The body of every response with an error. */
export const errorObject = Type.Object({
  error: Type.Object({
    code: choice(Object.keys(errorStatus) as ErrorCode[], 'Error code, for programs.'),
    message: text('Error message, for people.'),
    param: Type.Optional(Type.String({ description: 'Name of the wrong parameter, if there is one.' })),
    requestId: text('Id of the request, also in the log and in X-Request-Id.'),
  }),
});
export type ErrorObject = Static<typeof errorObject>;
