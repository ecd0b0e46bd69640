import Type from 'typebox';
import { choice } from './fields.ts';

const open = { additionalProperties: true } as const;

export const health = Type.Object({ status: choice(['ok', 'unavailable'], 'Result of the check.') }, open);

const part = Type.Object(
  {
    status: choice(
      ['ok', 'degraded', 'unavailable', 'unknown'],
      'Only `unavailable` makes the answer 503. `unknown`: it could not be read.',
    ),
  },
  open,
);

export const readiness = Type.Object(
  {
    status: choice(['ok', 'unavailable'], 'Result of the check.'),
    ready: Type.Boolean({ description: 'Whether Florin can serve here.' }),
    parts: Type.Record(Type.String(), part, {
      description:
        'The parts: `database`, `stopping`, `queue` (webhooks), `chains` (by network of this environment) and `restore`.',
    }),
    checks: Type.Object(
      { database: choice(['ok', 'unavailable'], 'As in `parts`.'), stopping: Type.Boolean() },
      { ...open, deprecated: true, description: 'Use `parts`.' },
    ),
  },
  open,
);
