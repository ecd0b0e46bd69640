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
import type { PasskeyRow } from '../../storage/access/passkeys.ts';
import { body, code, name, passkeyResponse, password } from './bodies.ts';
import { type DashboardRoute, route } from './dashboardRoute.ts';

const done = { done: true } as const;
const own = { action: 'signed-in' } as const;
/** Changes to sign-in need a step-up: an unattended session is not enough. */
const sensitive = { ...own, stepUp: true } as const;

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
    handle: async ({ person, params, address }) => {
      await endOwnSession(context, person, params.id!, address);
      return done;
    },
  }),
  route({
    ...own,
    name: 'POST /me/sessions/end-others',
    handle: async ({ person, address }) => {
      await endOtherSessions(context, person, address);
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
    handle: async call => passkeyObject(await addPasskey(context, call.person, call.body, call.address)),
  }),
  route({
    ...sensitive,
    name: 'DELETE /me/passkeys/:id',
    handle: async ({ person, params, address }) => {
      await removePasskey(context, person, params.id!, address);
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
      recoveryCodes: await turnTotpOn(context, call.person, call.body.code, call.address),
    }),
  }),
  route({
    ...sensitive,
    name: 'DELETE /me/totp',
    handle: async ({ person, address }) => {
      await turnTotpOff(context, person, address);
      return done;
    },
  }),
  route({
    ...sensitive,
    name: 'POST /me/recovery-codes',
    handle: async ({ person, address }) => ({ recoveryCodes: await renewRecoveryCodes(context, person, address) }),
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
      await changePassword(context, call.person, call.body.password, call.address);
      return done;
    },
  }),
  route({
    ...own,
    name: 'PATCH /me',
    body: body({ name: Type.Optional(name) }),
    handle: async call => personObject(await rename(context, call.person, call.body, call.address)),
  }),
];
