import AjvCompiler from '@fastify/ajv-compiler';
import type { FastifySchema, FastifySchemaCompiler, preValidationHookHandler } from 'fastify';
import { type FlorinError, invalid } from '../../core/errors.ts';
import type { Route } from './route.ts';

/** The fields of ajv's error that are used here. */
type AjvError = { keyword: string; instancePath: string; params: Record<string, unknown>; message?: string };

const dotted = (path: string, last?: unknown): string =>
  [...path.split('/').slice(1), ...(last === undefined ? [] : [String(last)])]
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');

/** The client chooses these names. A long or unprintable name is not repeated in the message. */
const printable = (name: string): string | undefined => (/^[\x20-\x7e]{1,100}$/.test(name) ? name : undefined);

const sentence = (where: string, { keyword, params, message }: AjvError): string => {
  switch (keyword) {
    case 'required':
      return `${where} is required.`;
    case 'additionalProperties':
      return `${where} is not a known parameter.`;
    case 'type':
      return `${where} must be of type ${params.type}.`;
    case 'enum':
      return `${where} must be one of: ${(params.allowedValues as unknown[]).join(', ')}.`;
    case 'anyOf':
      return `${where} has the wrong type.`;
    case 'pattern':
      return `${where} contains characters that are not allowed.`;
    default:
      return `${where} ${message ?? 'is not valid'}.`;
  }
};

/** One sentence about the first error. */
export const describeInvalid = (errors: readonly AjvError[]): FlorinError => {
  const error = errors[0]!;
  const last = error.params.missingProperty ?? error.params.additionalProperty;
  const param = printable(dotted(error.instancePath, last));
  return invalid(param, sentence(param ?? (last === undefined ? 'The request body' : 'A parameter'), error));
};

/** Parses numbers in query strings. Only plain digits count, so "1e1" and "0x10" stay strings and fail validation. */
const readQueryNumbers = (query: Record<string, unknown>): void => {
  for (const name of ['limit', 'offset', 'days']) {
    const text = query[name];
    if (typeof text === 'string' && /^\d{1,16}$/.test(text)) query[name] = Number(text);
  }
};

/** Prepares a request of this route for validation. */
export const prepareInput =
  (route: Route): preValidationHookHandler =>
  (request, _reply, done) => {
    if (route.query) readQueryNumbers(request.query as Record<string, unknown>);
    // A missing body is allowed. null is a body of the wrong type.
    if (route.bodyOptional && request.body === undefined) request.body = {};
    done();
  };

const compile = AjvCompiler()(
  {},
  { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: false } },
);

type Validator = ReturnType<FastifySchemaCompiler<FastifySchema>>;

/** Compiles a schema on its first use. Compiling all schemas at start took 0.4 s of CPU time. */
export const compileWhenNeeded: FastifySchemaCompiler<FastifySchema> = route => {
  let compiled: Validator | null = null;
  const validate: Validator = data => {
    compiled ??= compile(route) as Validator;
    const isValid = compiled(data);
    validate.errors = compiled.errors ?? null;
    return isValid;
  };
  return validate;
};
