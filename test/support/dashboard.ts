import { readFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { type Role, roles } from '../../src/core/access/rights.ts';
import type { AnswerOf, BodyOf, DashboardCallName, QueryOf } from '../../src/core/api/dashboardApi.ts';
import type { Environment } from '../../src/core/environment.ts';
import { acceptPassword, addPerson } from '../../src/engine/access/people.ts';
import { openSession } from '../../src/engine/access/sessions.ts';
import { sealRegister } from '../../src/engine/audit/register.ts';
import { publicPort } from '../../src/http/dashboard/cookies.ts';
import { atEndOfFile } from './endOfFile.ts';
import { startTestFlorin, type TestFlorin } from './florin.ts';
import { type Answer, send } from './send.ts';

export type DashboardSending<Name extends DashboardCallName = DashboardCallName> = {
  environment?: Environment;
  query?: QueryOf<Name> | Record<string, unknown>;
  body?: BodyOf<Name> | unknown;
  /** For the :parameters of the name. */
  params?: Record<string, string>;
  headers?: Record<string, string>;
};

export type DashboardAnswer<Name extends DashboardCallName> = Omit<Answer, 'json'> & {
  readonly json: AnswerOf<Name> & { error?: { code: string; message: string; param?: string } };
};

export type DashboardClient = {
  readonly personId: string;
  readonly email: string;
  readonly role: Role;
  cookie: string;
  /** What the app would send, and whatever came back. */
  call<Name extends DashboardCallName>(name: Name, sending?: DashboardSending<Name>): Promise<DashboardAnswer<Name>>;
  /** The same, which must succeed: the answer alone. */
  do<Name extends DashboardCallName>(name: Name, sending?: DashboardSending<Name>): Promise<AnswerOf<Name>>;
  /** Makes the session one that needs no new proof; `unprove` takes that away. */
  prove(): Promise<void>;
  unprove(): Promise<void>;
};

export type TestDashboard = {
  readonly scene: TestFlorin;
  /** The dashboard's origin. */
  readonly url: string;
  readonly ca: string;
  readonly accountId: string;
  readonly keys: Record<Environment, string>;
  /** A person of the account who is signed in, made at the first call and the same at each. */
  as(role: Role): Promise<DashboardClient>;
  /** Another person, of this account or of another. */
  newPerson(role: Role, accountId?: string): Promise<DashboardClient>;
  /** Somebody without a session. */
  stranger(): DashboardClient;
  /** Any request, as it is written. */
  send(method: string, path: string, outgoing?: { body?: unknown; headers?: Record<string, string> }): Promise<Answer>;
};

export const cookieName = (url: string): string => `__Host-florin-${publicPort(url)}`;

export const testPassword = 'a quiet river at noon';
/** Each hash takes its time, and the password is the same for all. */
let hash: Promise<string> | null = null;
const passwordHash = (): Promise<string> => {
  hash ??= acceptPassword(testPassword, { email: 'test@example.com', name: 'Test' });
  return hash;
};

const pathOf = (name: string, { environment, query, params }: DashboardSending): string => {
  const path = name.split(' ')[1]!.replaceAll(/:([a-z]+)/gi, (_, key: string) => {
    const value = params?.[key];
    if (value === undefined) throw new Error(`${name} needs params.${key}`);
    return encodeURIComponent(value);
  });
  const pairs = Object.entries({ ...query, ...(environment ? { environment } : {}) })
    .filter(([, value]) => value !== undefined)
    .map(([key, value]): [string, string] => [key, String(value)]);
  return `/dashboard/api${path}${pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`}`;
};

/**
 * A whole Florin with an account, and people of every role to sign in as. `takesFirstAccount`: the account that the first
 * start made is the only one. It has no live key. `isFarApart`: each stranger has an IP address of their own, so that many
 * who sign in are not refused for one address.
 */
export const startDashboard = async (
  options: Parameters<typeof startTestFlorin>[0] & {
    host?: string;
    takesFirstAccount?: boolean;
    isFarApart?: boolean;
  } = {},
): Promise<TestDashboard> => {
  const { isFarApart = false, env, ...rest } = options;
  const proxies = isFarApart ? { FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1' } : {};
  const scene = await startTestFlorin({ ...rest, env: { ...env, ...proxies } });
  const url = scene.florin.dashboardUrl;
  const ca = await readFile(scene.florin.caPath!, 'utf8');
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 16 });
  atEndOfFile(() => agent.destroy());
  const first = scene.florin.firstRun;
  const account = options.takesFirstAccount
    ? { id: first!.accountId, keys: { sandbox: first!.key, production: '' } }
    : await scene.account();
  const { admin } = scene;
  let made = 0;

  type Who = { personId: string; email: string; role: Role; cookie: string; sessionId: string };
  const clientOf = (who: Who, origin: Record<string, string> = {}) => {
    const { personId, email, role } = who;
    const client: DashboardClient = {
      personId,
      email,
      role,
      cookie: who.cookie,
      async call(name, sending = {}) {
        const method = name.split(' ')[0]!;
        const headers = {
          ...origin,
          ...(client.cookie === '' ? {} : { cookie: client.cookie }),
          ...(method === 'GET' ? {} : { origin: url, 'sec-fetch-site': 'same-origin' }),
          ...sending.headers,
        };
        const body = sending.body === undefined ? {} : { body: sending.body };
        const answer = await send(url, method, pathOf(name, sending as DashboardSending), { headers, agent, ...body });
        const set = answer.headers['set-cookie']?.[0]?.split(';', 1)[0];
        if (set !== undefined) client.cookie = set.endsWith('=') ? '' : set;
        return answer;
      },
      async do(name, sending) {
        const answer = await client.call(name, sending);
        if (answer.status !== 200) throw new Error(`${name} answered ${answer.status}: ${answer.text}`);
        return answer.json;
      },
      prove: () =>
        admin.db.script(`update sessions set proven_until = clock_timestamp() + interval '10 minutes',
            strongly_proven_until = clock_timestamp() + interval '10 minutes'
          where person_id = '${personId}'`),
      unprove: () =>
        admin.db.script(`update sessions set proven_until = null, strongly_proven_until = null
          where person_id = '${personId}'`),
    };
    return client;
  };

  const newPerson: TestDashboard['newPerson'] = async (role, accountId = account.id) => {
    made += 1;
    const email = `${role}${made}@example.com`;
    const name = `${role[0]!.toUpperCase()}${role.slice(1)} ${made}`;
    const password = await passwordHash();
    const { personId, token, sessionId } = await admin.db.transaction(async tx => {
      const person = await addPerson(admin, tx, { accountId, email, name, role, passwordHash: password });
      await sealRegister(admin, tx, accountId);
      const visit = { address: '127.0.0.1', device: 'Test', port: publicPort(url) };
      return { personId: person.id, ...(await openSession(admin, tx, person, visit)) };
    });
    return clientOf({ personId, email, role, cookie: `${cookieName(url)}=${token}`, sessionId });
  };

  let strangers = 0;
  const stranger = (): DashboardClient => {
    strangers += 1;
    const address = `100.${64 + (strangers >> 8)}.${strangers & 255}.7`;
    const origin = { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' };
    const nobody = { personId: '', email: '', role: 'viewer', cookie: '', sessionId: '' } as const;
    return clientOf(nobody, isFarApart ? origin : {});
  };

  const known = new Map<Role, DashboardClient>();
  // There is always an owner, as there is once the dashboard was set up.
  known.set('owner', await newPerson('owner'));
  return {
    scene,
    url,
    ca,
    accountId: account.id,
    keys: account.keys,
    async as(role) {
      if (!roles.includes(role)) throw new Error(`there is no role ${role}`);
      const client = known.get(role) ?? (await newPerson(role));
      known.set(role, client);
      return client;
    },
    newPerson,
    stranger,
    send: (method, path, outgoing = {}) => send(url, method, path, { ...outgoing, agent }),
  };
};
