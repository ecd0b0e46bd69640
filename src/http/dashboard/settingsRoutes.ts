import Type from 'typebox';
import { nullable, storable, strict } from '../../core/api/fields.ts';
import { changeSettings, revealCallbacks, showSettings } from '../../engine/access/settings.ts';
import { sendTestMail } from '../../engine/access/testMail.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import { actingOf } from './actingOf.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

/** 64 KiB in base64, plus the prefix of the data URL. */
const logoLength = 87_500;
const name = Type.String({ ...storable, maxLength: 400 });

const branding = Type.Object(
  {
    displayName: Type.Optional(nullable(name)),
    accentColor: Type.Optional(nullable(Type.String({ maxLength: 7 }))),
    logo: Type.Optional(nullable(Type.String({ maxLength: logoLength }))),
  },
  strict,
);
const change = Type.Object(
  {
    accountName: Type.Optional(name),
    tolerancePercent: Type.Optional(Type.String({ maxLength: 10 })),
    latePolicy: Type.Optional(nullable(Type.Enum(['accept', 'manual']))),
    lateWindowDays: Type.Optional(Type.Number()),
    checkoutOrigins: Type.Optional(Type.Array(Type.String({ ...storable, maxLength: 400 }), { maxItems: 100 })),
    supportContact: Type.Optional(nullable(Type.String({ ...storable, maxLength: 2048 }))),
    branding: Type.Optional(branding),
  },
  strict,
);

/** Settings of new payments, and branding of the checkout. */
export const settingsRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'GET /settings',
    action: 'settings.read',
    handle: ({ scope }) => showSettings(context, scope),
  }),
  route({
    name: 'PATCH /settings',
    action: 'settings.manage',
    // They decide what counts as paid and what payers are shown.
    stepUp: 'environment',
    body: change,
    bodyBytes: 96 * 1024,
    handle: call => perform(context, actingOf(call), null, changeSettings(call.body)),
  }),
  route({
    name: 'POST /mail/test',
    action: 'mail.test',
    handle: async ({ person }) => ({ error: await sendTestMail(context, person) }),
  }),
  route({
    name: 'POST /settings/callback-secret/reveal',
    action: 'secrets.reveal',
    stepUp: 'environment',
    handle: async call => ({ secret: await perform(context, actingOf(call), null, revealCallbacks(context)) }),
  }),
];
