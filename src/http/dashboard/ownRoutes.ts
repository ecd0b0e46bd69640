import { Type } from 'typebox';
import { qrCode } from '../../checkout/qrCode.ts';
import type { PasskeyRow as PasskeyObject } from '../../core/api/sessionApi.ts';
import { markupOf } from '../../core/html.ts';
import { changePassword, rename } from '../../engine/access/ownAccount.ts';
import { addPasskey, beginPasskey, listOwnPasskeys, removePasskey } from '../../engine/access/passkeys.ts';
import { beginTotp, renewRecoveryCodes, turnTotpOff, turnTotpOn } from '../../engine/access/secondFactors.ts';
import { endOtherSessions, endOwnSession, listOwnSessions } from '../../engine/access/sessions.ts';
import { personObject } from '../../engine/access/signedIn.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import type { PasskeyRow } from '../../storage/access/passkeys.ts';
import { memberOf } from './actingOf.ts';
import { body, code, name, passkeyResponse, password } from './bodies.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const done = { done: true } as const;
const own = { action: 'signed-in' } as const;
/** Changes to sign-in need a step-up: an unattended session is not enough. */
const sensitive = { ...own, stepUp: 'own' } as const;

const passkeyObject = ({ id, name: called, createdAt, lastUsedAt }: PasskeyRow): PasskeyObject => ({
  id,
  name: called,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

const ownSessionRoutes = (context: Context): DashboardRoute[] => [
  route({
    ...own,
    name: 'GET /me/sessions',
    async handle({ person }) {
      const rows = await listOwnSessions(context, person);
      const data = rows.map(({ id, address, device, createdAt, lastSeenAt }) => ({
        id,
        isThis: id === person.sessionId,
        address,
        device,
        createdAt: createdAt.toISOString(),
        lastSeenAt: lastSeenAt.toISOString(),
      }));
      return { data };
    },
  }),
  route({
    ...own,
    name: 'DELETE /me/sessions/:id',
    handle: async call => {
      await perform(context, memberOf(call), null, endOwnSession(call.person, call.params.id!));
      return done;
    },
  }),
  route({
    ...own,
    name: 'POST /me/sessions/end-others',
    handle: async call => {
      await perform(context, memberOf(call), null, endOtherSessions(call.person));
      return done;
    },
  }),
];

const ownPasskeyRoutes = (context: Context): DashboardRoute[] => [
  route({
    ...own,
    name: 'GET /me/passkeys',
    handle: async ({ person }) => ({ data: (await listOwnPasskeys(context, person)).map(passkeyObject) }),
  }),
  route({
    ...sensitive,
    name: 'POST /me/passkeys/options',
    handle: ({ person }) => beginPasskey(context, person),
  }),
  route({
    ...sensitive,
    name: 'POST /me/passkeys',
    body: body({ name, response: passkeyResponse }),
    handle: async call =>
      passkeyObject(await perform(context, memberOf(call), null, await addPasskey(context, call.person, call.body))),
  }),
  route({
    ...sensitive,
    name: 'DELETE /me/passkeys/:id',
    handle: async call => {
      await perform(context, memberOf(call), null, removePasskey(call.person, call.params.id!));
      return done;
    },
  }),
];

/** A standalone SVG, which the app shows as an image. */
const qrPicture = (text: string): string =>
  markupOf(qrCode(text, 'QR code')).replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ');

const secondFactorRoutes = (context: Context): DashboardRoute[] => [
  route({
    ...sensitive,
    name: 'POST /me/totp/begin',
    async handle({ person }) {
      const begun = await beginTotp(context, person);
      return { ...begun, qr: qrPicture(begun.uri) };
    },
  }),
  route({
    ...sensitive,
    name: 'POST /me/totp',
    body: body({ code }),
    handle: async call => ({
      recoveryCodes: await perform(context, memberOf(call), null, turnTotpOn(context, call.person, call.body.code)),
    }),
  }),
  route({
    ...sensitive,
    name: 'DELETE /me/totp',
    handle: async call => {
      await perform(context, memberOf(call), null, turnTotpOff(call.person));
      return done;
    },
  }),
  route({
    ...sensitive,
    name: 'POST /me/recovery-codes',
    handle: async call => ({
      recoveryCodes: await perform(context, memberOf(call), null, renewRecoveryCodes(context, call.person)),
    }),
  }),
];

/** The user's own sessions, passkeys, second factors, password and name. */
export const ownRoutes = (context: Context): DashboardRoute[] => [
  ...ownSessionRoutes(context),
  ...ownPasskeyRoutes(context),
  ...secondFactorRoutes(context),
  route({
    ...sensitive,
    name: 'POST /me/password',
    body: body({ password }),
    handle: async call => {
      await perform(context, memberOf(call), null, await changePassword(call.person, call.body.password));
      return done;
    },
  }),
  route({
    ...own,
    name: 'PATCH /me',
    body: body({ name: Type.Optional(name) }),
    handle: async call => personObject(await perform(context, memberOf(call), null, rename(call.person, call.body))),
  }),
];
