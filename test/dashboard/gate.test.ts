import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { beforeAll, expect, test } from 'vitest';
import { cookieName, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { sendRaw } from '../support/send.ts';

let dashboard: TestDashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});

const nameOf = async (): Promise<string> => {
  const session = await (await dashboard.as('viewer')).do('GET /session');
  return session.state === 'signed-in' ? session.person.name : '';
};

/** Sends a change with the viewer's cookie and exactly these headers. */
const rename = async (headers: Record<string, string>, body: unknown = { name: 'Hijacked' }) => {
  const { cookie } = await dashboard.as('viewer');
  return dashboard.send('PATCH', '/dashboard/api/me', { body, headers: { cookie, ...headers } });
};

test.each<[string, (origin: string) => Record<string, string>]>([
  ['without an origin', () => ({})],
  ['of another site', () => ({ origin: 'https://evil.example' })],
  ['of an opaque origin', () => ({ origin: 'null' })],
  ['of the sandbox, which is another origin', () => ({ origin: dashboard.scene.florin.urls.sandbox })],
  ['of a name that begins alike', origin => ({ origin: `${origin}.evil.example` })],
  ['of plain HTTP', origin => ({ origin: origin.replace('https:', 'http:') })],
  ['across sites, whatever the origin says', origin => ({ origin, 'sec-fetch-site': 'cross-site' })],
  ['of a neighbour', origin => ({ origin, 'sec-fetch-site': 'same-site' })],
])('a change %s is refused, and nothing changes', async (_, headers) => {
  const before = await nameOf();
  const answer = await rename(headers(dashboard.url));
  expect(answer.status).toBe(403);
  expect(answer.json.error).toMatchObject({ code: 'permission_denied' });
  expect(await nameOf()).toBe(before);
});

test.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', 'application/jsonp'])(
  'a change in the form of %s is refused',
  async type => {
    const before = await nameOf();
    const headers = { origin: dashboard.url, 'content-type': type };
    expect((await rename(headers, '{"name":"Hijacked"}')).status).toBe(415);
    const empty = await dashboard.send('POST', '/dashboard/api/me/sessions/end-others', {
      headers: { ...headers, cookie: (await dashboard.as('viewer')).cookie },
    });
    expect(empty.status, 'without a body, too').toBe(415);
    expect(await nameOf()).toBe(before);
  },
);

test('a change of the dashboard itself is made', async () => {
  expect((await rename({ origin: dashboard.url, 'sec-fetch-site': 'same-origin' }, { name: 'Renamed' })).status).toBe(
    200,
  );
  expect(await nameOf()).toBe('Renamed');
});

test('signing in is guarded as well: nobody is signed in as somebody else from afar', async () => {
  const body = { email: 'x@example.com', password: 'whatever it may be' };
  const answer = await dashboard.send('POST', '/dashboard/api/sign-in', {
    body,
    headers: { origin: 'https://evil.example' },
  });
  expect(answer.status).toBe(403);
});

test('other sites cannot read, as far as browsers say who asks', async () => {
  const { cookie } = await dashboard.as('viewer');
  const get = (site: string) =>
    dashboard.send('GET', '/dashboard/api/team', { headers: { cookie, 'sec-fetch-site': site } });
  expect((await get('cross-site')).status).toBe(403);
  expect((await get('same-site')).status).toBe(403);
  expect((await get('same-origin')).status).toBe(200);
  expect((await get('none')).status).toBe(200);
});

const expectGuarded = (headers: Readonly<Record<string, unknown>>): void => {
  const policy = String(headers['content-security-policy']).split('; ');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("base-uri 'none'");
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  expect(headers['permissions-policy']).toContain('publickey-credentials-get=(self)');
};

test.each([
  ['GET', '/dashboard', 200],
  ['GET', '/dashboard/sandbox/payments', 200],
  ['GET', '/dashboard/api/session', 200],
  ['GET', '/dashboard/api/team', 401],
  ['POST', '/dashboard/api/sign-in', 403],
  ['GET', '/dashboard/api/nothing', 404],
  ['GET', '/dashboard/assets/nothing.js', 404],
  ['PUT', '/dashboard/api/nothing', 404],
  ['PUT', '/%64ashboard/api/nothing', 404],
  ['PUT', '/dashboard/api/team', 405],
  ['GET', '/%64ashboard/api/session', 200],
  ['GET', '/dashboar%64/api/team', 401],
  ['GET', '/dashboard/api/%ZZ', 400],
  ['GET', '/dashboard/api/session?environment=both', 400],
])('%s %s cannot be framed, sniffed, cached or told of', async (method, path, status) => {
  const { headers, status: answered } = await dashboard.send(method, path, { headers: { accept: 'text/html' } });
  expect(answered).toBe(status);
  expectGuarded(headers);
});

/** Sends a request line that no browser would send. */
const sendTarget = (url: string, method: string, path: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, ca: dashboard.ca, agent: false, method, path }, answer =>
      resolve(answer.resume()),
    );
    sent.once('error', reject).end();
  });

test.each([
  ['GET', 'https://evil.example/dashboard/api/session', 200],
  ['GET', 'https://evil.example/%64ashboard/api/team', 401],
  ['GET', 'http://evil.example/dashboard/api/nothing', 404],
  ['PUT', 'https://evil.example/dashboard/api/nothing', 404],
  ['GET', '/dashboard#/api/session', 200],
  ['GET', '/dashboard/api/session#', 200],
  ['PUT', '/dashboard#', 404],
])('%s %s is guarded like any other spelling', async (method, target, status) => {
  const answer = await sendTarget(dashboard.url, method, target);
  expect(answer.statusCode).toBe(status);
  expectGuarded(answer.headers);
});

test.each(['/%64ashboard/api/session', 'https://evil.example/dashboard/api/session', '/dashboard#'])(
  "the sandbox's address serves nothing of it, however %s is spelled",
  async target => {
    const { sandbox } = dashboard.scene.florin.urls;
    const read = await sendTarget(sandbox, 'GET', target);
    expect(read.statusCode).toBe(302);
    expect(new URL(read.headers.location!).origin).toBe(new URL(dashboard.url).origin);
    expect((await sendTarget(sandbox, 'POST', target)).statusCode).toBe(404);
  },
);

test('the app is at every address below, its files for ever at theirs', async () => {
  const page = await dashboard.send('GET', '/dashboard/anything/at/all', { headers: { accept: 'text/html' } });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  const asset = /\/dashboard\/assets\/main-[\w.-]+\.js/.exec(page.text)![0];
  const script = await dashboard.send('GET', asset);
  expect(script.status).toBe(200);
  expect(script.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  const packed = await dashboard.send('GET', asset, { headers: { 'accept-encoding': 'gzip' } });
  expect(packed.headers['content-encoding']).toBe('gzip');
  expect(Number(packed.headers['content-length'])).toBeLessThan(Number(script.headers['content-length']) / 2);
  const notPage = await dashboard.send('GET', '/dashboard/anything', { headers: { accept: 'application/json' } });
  expect(notPage.status).toBe(404);
  const above = await sendRaw(
    dashboard.url,
    dashboard.ca,
    'GET /dashboard/assets/..%2findex.html HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  );
  expect(above).toMatch(/^HTTP\/1\.1 404 /);
});

test("the sandbox's address sends people to the dashboard, and takes no calls", async () => {
  const { client } = dashboard.scene;
  const answer = await client.call('GET', '/dashboard/sandbox/keys?x=1', { headers: { accept: 'text/html' } });
  expect(answer.status).toBe(302);
  expect(answer.headers.location).toBe(`${dashboard.url}/dashboard/sandbox/keys?x=1`);
  expect((await client.call('POST', '/dashboard/api/sign-in', { body: {} })).status).toBe(404);
});

test('an API key opens nothing here, and a session opens nothing there', async () => {
  const headers = { authorization: `Bearer ${dashboard.keys.production}` };
  expect((await dashboard.send('GET', '/dashboard/api/team', { headers })).status).toBe(401);
  const { cookie } = await dashboard.as('owner');
  expect((await dashboard.send('GET', '/v1/payments', { headers: { cookie } })).status).toBe(401);
});

test('a session that is made up, cut short or spelled otherwise is none', async () => {
  const { cookie } = await dashboard.as('owner');
  const token = cookie.split('=')[1]!;
  for (const wrong of [`${'A'.repeat(43)}`, token.slice(0, -1), `${token}A`, '', 'null', `"${token}"`]) {
    const answer = await dashboard.send('GET', '/dashboard/api/team', {
      headers: { cookie: `${cookieName(dashboard.url)}=${wrong}` },
    });
    expect(answer.status, wrong).toBe(401);
  }
  const { port } = new URL(dashboard.url);
  for (const name of ['__Host-florin', '__Host-florin-443', `__Host-florin-${port}0`, `florin-${port}`]) {
    const answer = await dashboard.send('GET', '/dashboard/api/team', { headers: { cookie: `${name}=${token}` } });
    expect(answer.status, name).toBe(401);
  }
  const bare = await dashboard.send('GET', '/dashboard/api/team', { headers: { cookie: `florin=${token}` } });
  expect(bare.status).toBe(401);
});

test('text that cannot be stored is refused as any other wrong one, wherever it stands', async () => {
  const owner = await dashboard.as('owner');
  await owner.prove();
  const id = '\0';
  const statuses = [
    await owner.call('POST /sign-in', { body: { email: 'a\0@example.com', password: 'whatever' } }),
    await owner.call('GET /audit', { query: { actor: '\0' } }),
    await owner.call('POST /me/passkeys', { body: { name: 'a\0b', response: { id: 'x\0' } } }),
    await owner.call('POST /sign-in/passkey', { body: { response: { id: 'x\0', response: { a: '\0' } } } }),
    await owner.call('POST /wallets/preview', { body: { network: '\0', treasury: '0x0' } }),
    await owner.call('DELETE /me/sessions/:id', { params: { id } }),
    await owner.call('DELETE /me/passkeys/:id', { params: { id } }),
    await owner.call('PATCH /team/:id', { params: { id }, body: { role: 'viewer' } }),
    await owner.call('DELETE /team/invitations/:id', { params: { id } }),
    await owner.call('POST /wallets/:network/verify', { params: { network: id }, body: { version: 1 } }),
    await owner.call('POST /keys/:id/revoke', { params: { id } }),
  ].map(({ status }) => status);
  expect(statuses).toEqual([400, 400, 400, 400, 400, 404, 404, 404, 404, 404, 404]);
});
