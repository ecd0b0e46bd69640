import { Type } from 'typebox';
import type { SessionState } from '../../core/api/sessionApi.ts';
import { invalid } from '../../core/errors.ts';
import { addAccount } from '../../engine/access/addAccount.ts';
import {
  checkLink,
  joinByLink,
  joinWithPasskey,
  joinWithPassword,
  offerPasskeyByLink,
} from '../../engine/access/joinByLink.ts';
import { rememberDevice } from '../../engine/access/knownDevices.ts';
import { requestPasskey } from '../../engine/access/passkeys.ts';
import { checkRecovery, recover } from '../../engine/access/recovery.ts';
import { askForRecovery } from '../../engine/access/recoveryByMail.ts';
import { restoreWithPasskey, restoreWithPassword } from '../../engine/access/restoreSignIn.ts';
import {
  endOwnSession,
  endReplacedSession,
  type SignedInPerson,
  sessionSeconds,
  switchAccount,
} from '../../engine/access/sessions.ts';
import { describeSignedIn } from '../../engine/access/signedIn.ts';
import {
  type NewSession,
  proveWithPasskey,
  proveWithPassword,
  type SignInOrigin,
  signInWithPasskey,
  signInWithPassword,
} from '../../engine/access/signIn.ts';
import { memberActing } from '../../engine/audit/acting.ts';
import type { Context } from '../../engine/context.ts';
import { perform } from '../../engine/perform.ts';
import { hasOwner } from '../../storage/access/memberships.ts';
import { limitSubject } from '../edge/clientAddress.ts';
import type { Reply } from '../edge/route.ts';
import { body, code, email, name, passkeyResponse, password, token } from './bodies.ts';
import { deviceCookie, endedCookie, sessionCookie } from './cookies.ts';
import { type DashboardRoute, type PublicCall, type PublicRoute, publicRoute, route } from './dashboardRoute.ts';

const originOf = ({ visit, deviceCookie: given }: Pick<PublicCall, 'visit' | 'deviceCookie'>): SignInOrigin => ({
  ...visit,
  addressKey: limitSubject(visit.address),
  deviceCookie: given,
});

/** Responds with the new session and its cookie, and remembers the device. Ends the session of the cookie that the request had. */
const signedIn = async (
  context: Context,
  session: NewSession,
  { person, address, deviceCookie: given }: Pick<PublicCall, 'person' | 'address' | 'deviceCookie'>,
): Promise<{ reply: Reply }> => {
  if (person) await perform(context, memberActing(person, address), null, endReplacedSession(person));
  const device = rememberDevice(context, given, session.person.email);
  const { url } = context.dashboard;
  return {
    reply: {
      body: JSON.stringify(await describeSignedIn(context, session.person)),
      headers: { 'set-cookie': [sessionCookie(url, session.token, sessionSeconds), deviceCookie(url, device)] },
    },
  };
};

/** How a new member will sign in. At least one is required. */
const proofs = { password: Type.Optional(password), passkey: Type.Optional(passkeyResponse) };

const linkRoutes = (context: Context): PublicRoute[] => [
  publicRoute({
    name: 'POST /setup/check',
    action: 'public',
    body: body({ token }),
    handle: async call => ({ accountName: (await checkLink(context, call.body.token, 'setup')).accountName }),
  }),
  publicRoute({
    name: 'POST /setup',
    action: 'public',
    body: body({ token, name, email, ...proofs }),
    handle: async call => signedIn(context, await joinByLink(context, 'setup', call.body, call.visit), call),
  }),
  publicRoute({
    name: 'POST /setup/passkey/options',
    action: 'public',
    body: body({ token, name, email }),
    handle: call => offerPasskeyByLink(context, 'setup', call.body),
  }),
  publicRoute({
    name: 'POST /invitation/check',
    action: 'public',
    body: body({ token }),
    async handle(call) {
      const link = await checkLink(context, call.body.token, 'invitation');
      return { accountName: link.accountName, email: link.email!, role: link.role };
    },
  }),
  publicRoute({
    name: 'POST /invitation',
    action: 'public',
    body: body({ token, name, ...proofs }),
    handle: async call =>
      signedIn(context, await joinByLink(context, 'invitation', { ...call.body, email: null }, call.visit), call),
  }),
  publicRoute({
    name: 'POST /invitation/sign-in',
    action: 'public',
    body: body({ token, password, code: Type.Optional(code) }),
    async handle(call) {
      const session = await joinWithPassword(context, call.body, originOf(call));
      return session === null ? { state: 'code-needed' as const } : signedIn(context, session, call);
    },
  }),
  publicRoute({
    name: 'POST /invitation/sign-in/passkey',
    action: 'public',
    body: body({ token, response: passkeyResponse }),
    handle: async call => signedIn(context, await joinWithPasskey(context, call.body, call.visit), call),
  }),
  publicRoute({
    name: 'POST /invitation/passkey/options',
    action: 'public',
    body: body({ token, name }),
    handle: call => offerPasskeyByLink(context, 'invitation', { ...call.body, email: null }),
  }),
];

const recoveryRoutes = (context: Context): PublicRoute[] => [
  publicRoute({
    name: 'POST /recovery/request',
    action: 'public',
    body: body({ email }),
    async handle(call) {
      await askForRecovery(context, call.body.email, originOf(call));
      return { done: true } as const;
    },
  }),
  publicRoute({
    name: 'POST /recovery/check',
    action: 'public',
    body: body({ token }),
    async handle(call) {
      const { email: of, opensAt } = await checkRecovery(context, call.body.token);
      return { email: of, opensAt: opensAt.toISOString() };
    },
  }),
  publicRoute({
    name: 'POST /recovery',
    action: 'public',
    body: body({ token, password }),
    handle: async call => signedIn(context, await recover(context, call.body, call.visit), call),
  }),
];

const earlier = Type.Optional(Type.Literal(true));

const signInRoutes = (context: Context): PublicRoute[] => [
  publicRoute({
    name: 'GET /session',
    action: 'public',
    async handle({ person, sessionEnd }): Promise<SessionState> {
      if (person) return describeSignedIn(context, person);
      if (!(await hasOwner(context.db, null))) return { state: 'no-owner' };
      const ended = await sessionEnd();
      return {
        state: 'signed-out',
        ...(ended !== null && { ended }),
        ...(context.sendMail !== null && { sendsMail: true }),
      };
    },
  }),
  publicRoute({
    name: 'POST /sign-in',
    action: 'public',
    body: body({ email, password, code: Type.Optional(code), earlier }),
    async handle(call) {
      const prove = call.body.earlier ? restoreWithPassword : signInWithPassword;
      const session = await prove(context, call.body, originOf(call));
      return session === null ? { state: 'code-needed' as const } : signedIn(context, session, call);
    },
  }),
  publicRoute({
    name: 'POST /sign-in/passkey/options',
    action: 'public',
    handle: () => requestPasskey(context, 'sign-in', null),
  }),
  publicRoute({
    name: 'POST /sign-in/passkey',
    action: 'public',
    body: body({ response: passkeyResponse, earlier }),
    async handle(call) {
      const prove = call.body.earlier ? restoreWithPasskey : signInWithPasskey;
      return signedIn(context, await prove(context, call.body.response, call.visit), call);
    },
  }),
];

const openAccount = async (context: Context, person: SignedInPerson, accountId: string, address: string) => {
  const acting = memberActing({ ...person, accountId }, address);
  await perform(context, acting, null, switchAccount(person));
  return describeSignedIn(context, { ...person, accountId });
};

const proofRoutes = (context: Context): DashboardRoute[] => [
  route({
    name: 'POST /sign-out',
    action: 'signed-in',
    async handle({ person, address }) {
      await perform(context, memberActing(person, address), null, endOwnSession(person, person.sessionId));
      return { reply: { body: '{"done":true}', headers: { 'set-cookie': endedCookie(context.dashboard.url) } } };
    },
  }),
  route({
    name: 'POST /session/account',
    action: 'signed-in',
    body: body({ accountId: Type.String({ maxLength: 100 }) }),
    handle: ({ person, address, body: { accountId } }) => openAccount(context, person, accountId, address),
  }),
  route({
    name: 'POST /accounts',
    action: 'signed-in',
    stepUp: 'own',
    body: body({ name }),
    async handle({ person, address, body: given }) {
      const { id } = await addAccount(context, person, given.name, address);
      return openAccount(context, person, id, address);
    },
  }),
  route({
    name: 'POST /prove/passkey/options',
    action: 'signed-in',
    handle: ({ person }) => requestPasskey(context, 'prove', person),
  }),
  route({
    name: 'POST /prove',
    action: 'signed-in',
    body: body({
      password: Type.Optional(password),
      code: Type.Optional(code),
      response: Type.Optional(passkeyResponse),
    }),
    async handle({ person, visit, body: given }) {
      if ((given.response === undefined) === (given.password === undefined)) {
        throw invalid('password', 'Send a password or the response of a passkey.');
      }
      const until =
        given.response === undefined
          ? await proveWithPassword(context, person, { password: given.password!, code: given.code }, visit.address)
          : await proveWithPasskey(context, person, given.response, visit.address);
      return { provenUntil: until.toISOString() };
    },
  }),
];

/** Routes to sign in, to confirm one's identity again, and to sign out. */
export const sessionRoutes = (context: Context): (DashboardRoute | PublicRoute)[] => [
  ...signInRoutes(context),
  ...linkRoutes(context),
  ...recoveryRoutes(context),
  ...proofRoutes(context),
];
