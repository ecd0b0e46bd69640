import { type FlorinError, invalid } from '../core/errors.ts';

/** The part of ajv's error that is used here. */
type AjvError = { keyword: string; instancePath: string; params: Record<string, unknown>; message?: string };

const dotted = (path: string, last?: unknown): string =>
  [...path.split('/').slice(1), ...(last === undefined ? [] : [String(last)])]
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');

/** Names come from the client; one that is long or unprintable is not worth repeating. */
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

/** One clear sentence about the first thing that is wrong. */
export const describeInvalid = (errors: readonly AjvError[]): FlorinError => {
  const error = errors[0]!;
  const last = error.params.missingProperty ?? error.params.additionalProperty;
  const param = printable(dotted(error.instancePath, last));
  return invalid(param, sentence(param ?? (last === undefined ? 'The request body' : 'A parameter'), error));
};
