import type { DashboardClient } from '../../support/dashboard.ts';
import type { AskAs, Corpus } from '../corpusScene.ts';

const newKey = { name: 'Shop', scopes: ['payments:read', 'payments:write'] };

const refusedKeys: readonly (readonly [string, unknown])[] = [
  ['no name', { scopes: newKey.scopes }],
  ['a blank name', { ...newKey, name: '  ' }],
  ['a name that is too long', { ...newKey, name: 'x'.repeat(201) }],
  ['a name with a zero byte', { ...newKey, name: 'a\u0000' }],
  ['no scopes', { ...newKey, scopes: [] }],
  ['an unknown scope', { ...newKey, scopes: ['payments:delete'] }],
  ['scopes that are text', { ...newKey, scopes: 'payments:read' }],
  ['an IP address that is none', { ...newKey, ipAllow: ['10.0.0.0/99'] }],
  ['a name as IP address', { ...newKey, ipAllow: ['localhost'] }],
  ['a time that is none', { ...newKey, expiresAt: 'soon' }],
  ['a time in the past', { ...newKey, expiresAt: '2020-01-01T00:00:00Z' }],
  ['an unknown field', { ...newKey, admin: true }],
  ['bad JSON', '{'],
  ['a list', []],
];

const keys = async (app: AskAs, owner: DashboardClient): Promise<void> => {
  await app(owner, 'keys', 'GET /keys');
  const { json } = await app(owner, 'key', 'POST /keys', { body: newKey });
  const limits = { ipAllow: ['10.0.0.0/8', '2001:db8::1'], expiresAt: '2099-01-01T00:00:00Z' };
  const full = await app(owner, 'key: every field', 'POST /keys?environment=production', {
    body: { ...newKey, ...limits },
  });
  await app(owner, 'key: scopes twice', 'POST /keys', {
    body: { name: ' Ä ', scopes: ['webhooks:read', 'webhooks:read', 'webhooks:write'], ipAllow: [] },
  });
  for (const [name, body] of refusedKeys) await app(owner, `key: ${name}`, 'POST /keys', { body });
  await app(owner, 'rotate: an unknown overlap', `POST /keys/${json.id}/rotate`, { body: { overlap: '2h' } });
  await app(owner, 'rotate: no overlap', `POST /keys/${json.id}/rotate`, { body: {} });
  await app(owner, 'rotate: in another environment', `POST /keys/${json.id}/rotate?environment=production`, {
    body: { overlap: '1h' },
  });
  await app(owner, 'rotate: unknown', `POST /keys/key_${'0'.repeat(26)}/rotate`, { body: { overlap: '1h' } });
  const next = await app(owner, 'rotate', `POST /keys/${json.id}/rotate`, { body: { overlap: '24h' } });
  await app(owner, 'rotate: again', `POST /keys/${json.id}/rotate`, { body: { overlap: '24h' } });
  await app(owner, 'rotate: at once', `POST /keys/${next.json.id}/rotate`, { body: { overlap: '0' } });
  await app(owner, 'revoke', `POST /keys/${full.json.id}/revoke?environment=production`);
  await app(owner, 'revoke: again', `POST /keys/${full.json.id}/revoke?environment=production`);
  await app(owner, 'revoke: unknown', `POST /keys/key_${'0'.repeat(26)}/revoke`);
  await app(owner, 'rotate: revoked', `POST /keys/${full.json.id}/rotate?environment=production`, {
    body: { overlap: '1h' },
  });
  await app(owner, 'keys: production', 'GET /keys?environment=production');
};

const hooks = async (corpus: Corpus, app: AskAs, owner: DashboardClient): Promise<void> => {
  const { receiver } = corpus;
  const url = `${receiver.url}/app`;
  const { json } = await app(owner, 'hook', 'POST /webhooks', {
    body: { url, events: ['payment.created'], description: 'App' },
  });
  receiver.answer = response => response.writeHead(500).end('no');
  await app(owner, 'hook: a ping that fails', 'POST /webhooks', { body: { url, events: ['*'] } });
  receiver.reset();
  await app(owner, 'hook: a private address', 'POST /webhooks', { body: { url: 'https://10.0.0.1/', events: ['*'] } });
  await app(owner, 'hook: loopback in production', 'POST /webhooks?environment=production', {
    body: { url, events: ['*'] },
  });
  await app(owner, 'hook: an unknown event', 'POST /webhooks', { body: { url, events: ['x'] } });
  await app(owner, 'hooks', 'GET /webhooks?environment=production');
  const { id } = json.endpoint;
  const one = `/webhooks/${id}`;
  await app(owner, 'hook: read', `GET ${one}`);
  await app(owner, 'hook: change', `PATCH ${one}`, {
    body: { description: null, events: ['payment.created', 'payment.canceled'] },
  });
  await app(owner, 'hook: change nothing', `PATCH ${one}`, { body: {} });
  await app(owner, 'hook: change to an unknown status', `PATCH ${one}`, { body: { status: 'off' } });
  await app(owner, 'hook: reveal', `POST ${one}/reveal`);
  await app(owner, 'hook: rotate', `POST ${one}/rotate`);
  await app(owner, 'hook: reveal the new secret', `POST ${one}/reveal`);
  await app(owner, 'hook: test', `POST ${one}/test`, { body: { type: 'payment.late' } });
  await app(owner, 'hook: test of an unknown type', `POST ${one}/test`, { body: { type: 'x' } });
  await app(owner, 'hook: replay', `POST ${one}/replay`, { body: { from: '2020-01-01', to: '2020-01-02' } });
  await app(owner, 'hook: replay backwards', `POST ${one}/replay`, { body: { from: '2020-01-03', to: '2020-01-02' } });
  await app(owner, 'hook: no deliveries', `GET ${one}/deliveries`);
  const body = { amount: '1.5', currency: 'USDC', network: 'bsc' };
  const { json: payment } = await app(owner, 'a payment', 'POST /payments', { body });
  await app(owner, 'cancel the payment', `POST /payments/${payment.id}/cancel`);
  const log = await app(owner, 'hook: deliveries', `GET ${one}/deliveries?status=scheduled`);
  await app(owner, 'hook: a page of deliveries', `GET ${one}/deliveries?limit=1`);
  await app(owner, 'hook: deliveries with a bad cursor', `GET ${one}/deliveries?cursor=x`);
  const delivery = log.json.data[0].id;
  await app(owner, 'delivery', `GET /deliveries/${delivery}`);
  await app(owner, 'delivery: resend', `POST /deliveries/${delivery}/resend`);
  await app(owner, 'delivery: unknown', `GET /deliveries/dlv_${'0'.repeat(26)}`);
  await app(owner, 'delivery: in production', `GET /deliveries/${delivery}?environment=production`);
  await app(owner, 'hook: delete', `DELETE ${one}`);
  await app(owner, 'hook: delete again', `DELETE ${one}`);
};

/** A picture of one pixel. */
const logo =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const changes: readonly (readonly [string, unknown])[] = [
  ['the name', { accountName: ' Tea & Sons ' }],
  ['terms', { tolerancePercent: '1.25', latePolicy: 'manual', lateWindowDays: 7 }],
  ['the same terms', { tolerancePercent: '1.25', latePolicy: 'manual', lateWindowDays: 7 }],
  ['origins', { checkoutOrigins: ['https://shop.example', 'https://SHOP.example:8443'] }],
  ['a contact', { supportContact: 'help@shop.example' }],
  ['branding', { branding: { displayName: 'Tea', accentColor: '#336699', logo } }],
  ['no branding', { branding: { displayName: null, accentColor: null, logo: null } }],
  ['nothing', {}],
  ['an empty name', { accountName: ' ' }],
  ['a name that is too long', { accountName: 'x'.repeat(401) }],
  ['a negative tolerance', { tolerancePercent: '-1' }],
  ['a tolerance of 6', { tolerancePercent: '6' }],
  ['a tolerance that is a number', { tolerancePercent: 1 }],
  ['an unknown policy', { latePolicy: 'never' }],
  ['half a day', { lateWindowDays: 0.5 }],
  ['too many days', { lateWindowDays: 4000 }],
  ['an origin with a path', { checkoutOrigins: ['https://shop.example/x'] }],
  ['an origin with a star', { checkoutOrigins: ['https://*.example'] }],
  ['a contact that is none', { supportContact: 'call me' }],
  ['a colour that is none', { branding: { accentColor: 'red' } }],
  ['a logo that is none', { branding: { logo: 'data:image/png;base64,AAAA' } }],
  ['an SVG as logo', { branding: { logo: 'data:image/svg+xml;base64,PHN2Zy8+' } }],
  ['an unknown field', { plan: 'enterprise' }],
  ['bad JSON', '{'],
];

const settings = async (app: AskAs, owner: DashboardClient): Promise<void> => {
  for (const environment of ['sandbox', 'production'])
    await app(owner, `settings: ${environment}`, `GET /settings?environment=${environment}`);
  for (const [name, body] of changes) await app(owner, `settings: ${name}`, 'PATCH /settings', { body });
  await app(owner, 'settings: after the changes', 'GET /settings');
  await app(owner, 'settings: reveal', 'POST /settings/callback-secret/reveal');
  await owner.unprove();
  await app(owner, 'settings: without a proof', 'PATCH /settings', { body: { lateWindowDays: 8 } });
  await app(owner, 'settings: reveal without a proof', 'POST /settings/callback-secret/reveal');
  await owner.prove();
};

/** Keys, webhooks and settings in the dashboard. */
export const appSetup = async (corpus: Corpus): Promise<void> => {
  const app = corpus.appDoor('app');
  // In an account of its own, so that other chapters do not change what it lists.
  const owner = await corpus.dashboard.newPerson('owner', (await corpus.florin.account({ name: 'Setup' })).id);
  await owner.prove();
  await keys(app, owner);
  await hooks(corpus, app, owner);
  await settings(app, owner);
};
