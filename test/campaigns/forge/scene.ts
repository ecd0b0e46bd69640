import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { findSuperuser } from '../../../src/local/postgres/startPostgres.ts';
import { type Ready, runFlorin } from '../chaos/florinProcess.ts';
import { addPasskey, askToSignIn, enrich, invite } from './enrich.ts';
import { openSite, type Site } from './site.ts';

export type Hook = {
  readonly path: string;
  readonly id: string;
  readonly type: string;
  readonly paymentId: string | null;
  readonly body: string;
};

export type Scene = {
  readonly sandbox: Site;
  readonly dashboard: Site;
  readonly client: pg.Client;
  /** Two merchants with keys; the first one also has a key that was revoked. */
  readonly accounts: readonly [string, string];
  readonly keys: { readonly first: string; readonly second: string; readonly revoked: string };
  /** The cookie of an owner of the first account, and of one who was signed out. */
  readonly cookies: { readonly owner: string; readonly ended: string };
  /** The token of a link for a new password that was replaced. */
  readonly replacedLink: string;
  readonly treasury: string;
  /** Payments that nobody paid, with their addresses, and one that is completed. */
  readonly unpaid: ReadonlyMap<string, string>;
  readonly paid: string;
  /** A payment that was completed until a reorganization took its funds. */
  readonly reversed: string;
  /** After all of these payments. */
  readonly madeAt: string;
  /** Webhooks that came, of all receivers. */
  readonly hooks: Hook[];
  close(): Promise<void>;
};

const treasuries = {
  before: '0x00000000000000000000000000000000DeaDBeef',
  now: '0x00000000000000000000000000000000000A11cE',
} as const;
const network = 'base';
const [extendedNetwork, xpub] = [
  'polygon',
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8',
];
const ada = { email: 'ada@shop.example', password: 'a quiet river at noon' };
export const dashboardHeaders = (origin: string, cookie?: string): Record<string, string> => ({
  origin,
  'sec-fetch-site': 'same-origin',
  ...(cookie === undefined ? {} : { cookie }),
});

const startReceiver = async () => {
  const hooks: Hook[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { id, type, data } = JSON.parse(body) as { id: string; type: string; data?: { id?: string } };
      hooks.push({ path: request.url!, id, type, paymentId: data?.id ?? null, body });
      response.end();
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, hooks, server };
};

const openClient = async (room: string): Promise<pg.Client> => {
  const connection = (await findSuperuser({ dataDir: room }))!;
  const client = new pg.Client({ ...connection, database: 'florin' });
  await client.connect();
  // Stronger than the owner of the tables: no trigger and no foreign key is in the way.
  await client.query(`set session_replication_role = replica; set timezone = 'UTC'`);
  return client;
};

/** As a later version of Florin does. */
const addColumn = async (room: string): Promise<void> => {
  const client = await openClient(room);
  await client.query('alter table api_keys add column added_later text');
  await client.end();
};

/** As Florin does a day later. */
const purgeAnswers = async (room: string, account: string): Promise<void> => {
  const client = await openClient(room);
  await client.query('delete from idempotency_keys where account_id = $1', [account]);
  await client.end();
};

type Calls = {
  post<T>(key: string, path: string, body: object): Promise<T>;
  untilStatus(key: string, id: string, status: string): Promise<void>;
};

const callsOn = (sandbox: Site): Calls => ({
  async post<T>(key: string, path: string, body: object): Promise<T> {
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() };
    const answer = await sandbox.call('POST', `/v1${path}`, { body, headers });
    if (answer.status !== 200) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    return JSON.parse(answer.text) as T;
  },
  async untilStatus(key, id, status) {
    for (let tries = 0; tries < 300; tries++) {
      const answer = await sandbox.call('GET', `/v1/payments/${id}`, { headers: { authorization: `Bearer ${key}` } });
      if ((JSON.parse(answer.text) as { status: string }).status === status) return;
      await pause(100);
    }
    throw new Error(`${id} did not become ${status}`);
  },
});

const makeOwner = async (sandbox: Site, origin: string, link: string): Promise<string> => {
  const body = { token: link.split('#')[1]!, name: 'Ada', ...ada };
  const { status, text, cookie } = await sandbox.call('POST', '/dashboard/api/setup', {
    body,
    headers: dashboardHeaders(origin),
  });
  if (status !== 200 || cookie === null) throw new Error(`the owner could not be made: ${status} ${text}`);
  return cookie;
};

const signIn = async (sandbox: Site, origin: string): Promise<string> => {
  const { cookie } = await sandbox.call('POST', '/dashboard/api/sign-in', {
    body: ada,
    headers: dashboardHeaders(origin),
  });
  return cookie!;
};

type Payment = { readonly id: string; readonly address: string };

/** Makes two merchants with everything that the tables of a small shop contain. `remember` is called in the middle. */
export const makeScene = async (
  room: string,
  ready: Ready,
  remember: (client: pg.Client, first: string) => Promise<void>,
): Promise<Scene> => {
  await addColumn(room);
  const dashboard = openSite(ready.productionUrl, ready.ca);
  const sandbox = openSite(ready.sandboxUrl, ready.ca);
  const { origin } = new URL(ready.productionUrl);
  const calls = callsOn(sandbox);
  const receiver = await startReceiver();
  const cli = (...args: string[]): Promise<Record<string, unknown>> => runFlorin(room, args);
  const accountOf = async (name: string): Promise<string> => {
    // Wide enough for all looks.
    const limits = ['--plan', 'enterprise', '--rate-limit', '1000000', '--burst', '1000000'];
    return String((await cli('accounts', 'create', '--name', name, ...limits)).id);
  };
  const [first, second] = [await accountOf('First'), await accountOf('Second')];
  const keyOf = async (account: string): Promise<{ id: string; key: string }> =>
    (await cli('keys', 'create', '--account', account)) as { id: string; key: string };
  const [mine, revoked, theirs] = [await keyOf(first), await keyOf(first), await keyOf(second)];
  const setWallet = (account: string, treasury: string) =>
    cli('wallets', 'set', '--account', account, '--network', network, '--treasury', treasury);
  await setWallet(first, treasuries.before);
  const { link } = await cli('setup-link', '--account', first);
  const owner = await makeOwner(dashboard, origin, String(link));
  const ended = await signIn(dashboard, origin);
  const endpoint = await calls.post<{ id: string }>(mine.key, '/webhooks', { url: `${receiver.url}/before` });
  await calls.post(theirs.key, '/webhooks', { url: `${receiver.url}/second` });
  const pay = (key: string, more: object = {}): Promise<Payment> =>
    calls.post<Payment>(key, '/payments', { amount: '5.00', currency: 'USDC', network, ...more });
  const made = [
    await pay(mine.key, { externalId: 'order 1', metadata: { shop: 'one' } }),
    await pay(mine.key, { callbackUrl: `${receiver.url}/callback` }),
    await pay(mine.key, { currency: 'ETH', amount: '0.01' }),
  ];
  const paid = await pay(mine.key);
  const simulate = async ({ id }: Payment, outcome: string, status: string): Promise<void> => {
    await calls.post(mine.key, `/sandbox/payments/${id}/simulate`, { outcome });
    await calls.untilStatus(mine.key, id, status);
  };
  const reversed = await pay(mine.key);
  await simulate(reversed, 'paid', 'completed');
  await cli('wallets', 'set', '--account', first, '--network', extendedNetwork, '--xpub', xpub);
  await pay(mine.key, { network: extendedNetwork });
  await pay(theirs.key);
  const replaced = await cli('people', 'recovery-link', ada.email);
  const device = await addPasskey(dashboard, {
    origin,
    headers: dashboardHeaders(origin, owner),
    password: ada.password,
  });
  const withdraw = await invite(dashboard, dashboardHeaders(origin, owner));
  const signInWithPasskey = await askToSignIn(dashboard, device, dashboardHeaders(origin));
  await remember(await openClient(room), first);
  // What happens after that makes earlier rows wrong.
  await withdraw();
  await purgeAnswers(room, first);
  await signInWithPasskey();
  await simulate(reversed, 'reorg', 'reversed');
  await simulate(paid, 'paid', 'completed');
  await cli('keys', 'revoke', revoked.id);
  await setWallet(first, treasuries.now);
  const changed = await sandbox.call('PATCH', `/v1/webhooks/${endpoint.id}`, {
    body: { url: `${receiver.url}/now` },
    headers: { authorization: `Bearer ${mine.key}` },
  });
  if (changed.status !== 200) throw new Error(`the endpoint could not be changed: ${changed.text}`);
  await dashboard.call('POST', '/dashboard/api/sign-out', { body: {}, headers: dashboardHeaders(origin, ended) });
  await enrich(room, first, ada.email, made[2]!.id);
  const client = await openClient(room);
  return {
    sandbox,
    dashboard,
    client,
    accounts: [first, second],
    keys: { first: mine.key, second: theirs.key, revoked: revoked.key },
    cookies: { owner, ended },
    replacedLink: String(replaced.link).split('#')[1]!,
    treasury: treasuries.now,
    unpaid: new Map(made.map(({ id, address }) => [id, address])),
    paid: paid.id,
    reversed: reversed.id,
    madeAt: new Date().toISOString(),
    hooks: receiver.hooks,
    async close() {
      await client.end();
      sandbox.close();
      dashboard.close();
      receiver.server.close();
    },
  };
};
