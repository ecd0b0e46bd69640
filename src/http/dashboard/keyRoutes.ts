import Type, { type Static } from 'typebox';
import { permissions } from '../../core/access/rights.ts';
import { nullable, storable, strict } from '../../core/api/fields.ts';
import type { ApiKey } from '../../core/api/setupApi.ts';
import { invalid } from '../../core/errors.ts';
import {
  createKey,
  endKey,
  type KeyRequest,
  keyObject,
  listKeys,
  type NewKey,
  type RotationOverlap,
  rotateKey,
  rotationOverlaps,
} from '../../engine/access/keys.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import { actingOf } from './actingOf.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const newKey = Type.Object(
  {
    name: Type.String({ ...storable, minLength: 1, maxLength: 200 }),
    scopes: Type.Array(Type.Enum([...permissions]), { minItems: 1, maxItems: permissions.length }),
    ipAllow: Type.Optional(nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 }))),
    expiresAt: Type.Optional(nullable(Type.String({ maxLength: 40 }))),
  },
  strict,
);
const overlaps = Object.keys(rotationOverlaps) as RotationOverlap[];
const rotation = Type.Object({ overlap: Type.Enum(overlaps) }, strict);

const expiryOf = (text: string | null | undefined, nowMs: number): Date | null => {
  if (text === null || text === undefined) return null;
  const expiresAt = new Date(text);
  if (Number.isNaN(expiresAt.getTime())) throw invalid('expiresAt', 'expiresAt must be an ISO 8601 time.');
  if (expiresAt.getTime() <= nowMs) throw invalid('expiresAt', 'expiresAt must be in the future.');
  return expiresAt;
};

const requestOf = (body: Static<typeof newKey>, nowMs: number): KeyRequest => {
  const name = body.name.trim();
  if (name === '') throw invalid('name', 'Enter a name for the key.');
  return { name, scopes: body.scopes, ipAllow: body.ipAllow ?? null, expiresAt: expiryOf(body.expiresAt, nowMs) };
};

/** The key itself is only in this response. */
const shown = (context: Context, row: NewKey): ApiKey & { key: string } => ({
  ...keyObject(row, context.clock.nowMs()),
  key: row.key,
});

/** API keys. Each key is shown once. */
export const keyRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'GET /keys',
    action: 'keys.read',
    handle: async call => ({ data: await listKeys(context, call.scope) }),
  }),
  route({
    name: 'POST /keys',
    action: 'keys.manage',
    stepUp: 'environment',
    body: newKey,
    async handle(call) {
      const work = createKey(context, requestOf(call.body, context.clock.nowMs()), call.person.role);
      return shown(context, await perform(context, actingOf(call), null, work));
    },
  }),
  route({
    name: 'POST /keys/:id/rotate',
    action: 'keys.manage',
    stepUp: 'environment',
    body: rotation,
    async handle(call) {
      const work = rotateKey(context, call.params.id!, call.body.overlap, call.person.role);
      return shown(context, await perform(context, actingOf(call), null, work));
    },
  }),
  route({
    name: 'POST /keys/:id/revoke',
    action: 'keys.manage',
    stepUp: 'environment',
    handle: async call =>
      keyObject(await perform(context, actingOf(call), null, endKey(call.params.id!)), context.clock.nowMs()),
  }),
];
