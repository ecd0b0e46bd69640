import Type from 'typebox';
import { permissions } from '../../core/permissions.ts';
import { rotationOverlaps } from '../../engine/accounts.ts';
import type { Context } from '../../engine/context.ts';
import { createKeyAs, listKeys, revokeKeyAs, rotateKeyAs } from '../../engine/dashboard/keys.ts';
import { nullable, storable, strict } from '../schemas.ts';
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
const overlaps = Object.keys(rotationOverlaps) as (keyof typeof rotationOverlaps)[];
const rotation = Type.Object({ overlap: Type.Enum(overlaps) }, strict);

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
    stepUp: true,
    body: newKey,
    handle: call => createKeyAs(context, actingOf(call), call.body),
  }),
  route({
    name: 'POST /keys/:id/rotate',
    action: 'keys.manage',
    stepUp: true,
    body: rotation,
    handle: call => rotateKeyAs(context, actingOf(call), call.params.id!, call.body.overlap),
  }),
  route({
    name: 'POST /keys/:id/revoke',
    action: 'keys.manage',
    stepUp: true,
    handle: call => revokeKeyAs(context, actingOf(call), call.params.id!),
  }),
];
