import Type from 'typebox';
import { choice } from './fields.ts';

export const health = Type.Object(
  { status: choice(['ok', 'unavailable'], 'Result of the check.') },
  { additionalProperties: true },
);
