import type { DashboardCallName } from '../../src/core/api/dashboardApi.ts';
import { closeProduction } from '../support/closeProduction.ts';
import { type DashboardClient, type DashboardSending, type TestDashboard, testPassword } from '../support/dashboard.ts';
import { until } from '../support/until.ts';

/** Where a sample takes place: an account with an owner, and the person who tries. */
export type Stage = {
  readonly dashboard: TestDashboard;
  readonly accountId: string;
  readonly owner: DashboardClient;
  readonly person: DashboardClient;
};

/**
 * A call that works if the person may make it. `rows` is how many rows it adds to the audit log. Without `prepare`, the
 * call needs a scene of its own; the test named in `provenIn` makes it and reads the log.
 */
export type Sample =
  | { readonly rows: 0 | 1; readonly prepare: (stage: Stage) => Promise<DashboardSending> | DashboardSending }
  | { readonly provenIn: string };

type Method = 'POST' | 'PATCH' | 'PUT' | 'DELETE';
export type WriteName = Extract<DashboardCallName, `${Method} ${string}`>;
/** Calls without a session: they make one, and are recorded as the person's sign-in. */
type OpenName = Extract<WriteName, `POST /${'setup' | 'invitation' | 'recovery' | 'sign-in'}${string}`>;

let made = 0;
const unique = (): string => {
  made += 1;
  return String(made);
};

const newPayment = { amount: '25', currency: 'USDC', network: 'base' };
const payment = async ({ owner }: Stage): Promise<string> =>
  (await owner.do('POST /payments', { body: newPayment })).id;
const endpoint = async ({ owner }: Stage): Promise<string> =>
  (await owner.do('POST /webhooks', { body: { url: `https://localhost:1/hook/${unique()}` } })).endpoint.id;
const key = async ({ owner }: Stage): Promise<string> =>
  (await owner.do('POST /keys', { body: { name: 'Shop', scopes: ['payments:read'] } })).id;
const member = async ({ dashboard, accountId }: Stage): Promise<string> =>
  (await dashboard.newPerson('viewer', accountId)).personId;
const of = async (id: Promise<string>, rest: DashboardSending = {}): Promise<DashboardSending> => ({
  params: { id: await id },
  ...rest,
});
const treasury = '0x00000000000000000000000000000000DeaDBeef';

const underpaid = async (stage: Stage): Promise<DashboardSending> => {
  const id = await payment(stage);
  await stage.owner.do('POST /payments/:id/simulate', { params: { id }, body: { outcome: 'underpaid' } });
  const { amountReceived } = await until(
    async () => (await stage.owner.do('GET /payments/:id', { params: { id } })).payment,
    ({ exception }) => exception === 'underpaid',
  );
  return { params: { id }, body: { expectedAmount: amountReceived } };
};

const delivery = async (stage: Stage): Promise<DashboardSending> => {
  const id = await endpoint(stage);
  await payment(stage);
  const { data } = await until(
    () => stage.owner.do('GET /webhooks/:id/deliveries', { params: { id } }),
    page => page.data.length > 0,
  );
  return { params: { id: data[0]!.id } };
};

const inProduction = { environment: 'production' } as const;
/** What the samples before did was long ago, and the owners have been that for long. */
const letTimePass = ({ dashboard, accountId }: Stage): Promise<void> =>
  dashboard.scene.admin.db.script(`set local session_replication_role = replica;
    update audit_log set at = at - interval '8 days' where account_id = '${accountId}';
    update wallet_stops set stopped_at = stopped_at - interval '8 days' where account_id = '${accountId}';
    update memberships set owner_since = owner_since - interval '8 days' where account_id = '${accountId}'`);
const pendingChange = async (stage: Stage): Promise<DashboardSending> => {
  const { owner } = stage;
  await letTimePass(stage);
  await owner.prove();
  const first = { network: 'polygon', treasury };
  await owner.do('POST /wallets', { body: first, ...inProduction });
  const second = { network: 'polygon', treasury: '0x00000000000000000000000000000000000A11cE' };
  const { pending } = await owner.do('POST /wallets', { body: second, ...inProduction });
  return { params: { id: pending!.id }, ...inProduction };
};

/** A change that another owner asked for. */
const othersChange = async (stage: Stage): Promise<DashboardSending> => {
  const { owner } = stage;
  await letTimePass(stage);
  await owner.prove();
  const ask = (to: string) =>
    owner.do('POST /wallets', { body: { network: 'ethereum', treasury: to }, ...inProduction });
  await ask(treasury);
  const { pending } = await ask('0x00000000000000000000000000000000000A11cE');
  return { params: { id: pending!.id }, ...inProduction };
};

const otherSession = async ({ dashboard, person }: Stage): Promise<DashboardSending> => {
  await dashboard.stranger().do('POST /sign-in', { body: { email: person.email, password: testPassword } });
  const { data } = await person.do('GET /me/sessions');
  return { params: { id: data.find(session => !session.isThis)!.id } };
};

/** As a restore that is declared does. Returns when it was. */
const restored = async ({ dashboard, owner }: Stage): Promise<string> => {
  await closeProduction(dashboard.scene.admin);
  return (await owner.do('GET /announcements')).restoredAt!;
};

/** Every write of the dashboard. A new one without a sample does not compile. */
export const writeSamples = {
  'POST /payments': { rows: 0, prepare: () => ({ body: newPayment }) },
  'POST /payments/:id/cancel': { rows: 1, prepare: stage => of(payment(stage)) },
  'POST /payments/:id/resolve': { rows: 1, prepare: underpaid },
  'POST /payments/:id/simulate': { rows: 0, prepare: stage => of(payment(stage), { body: { outcome: 'paid' } }) },
  'POST /mail/test': { provenIn: 'test/mail/links.test.ts' },
  'POST /settlement/plan': { provenIn: 'test/dashboard/settlement.test.ts' },
  'POST /settlement/confirm': { provenIn: 'test/dashboard/sweepStrays.test.ts' },
  'POST /settlement/sweeps': { provenIn: 'test/dashboard/settlement.test.ts' },
  'POST /sign-out': { rows: 1, prepare: () => ({}) },
  'POST /accounts': { provenIn: 'test/dashboard/memberships.test.ts' },
  'POST /session/account': { rows: 1, prepare: ({ accountId }) => ({ body: { accountId } }) },
  'POST /prove/passkey/options': { rows: 0, prepare: () => ({}) },
  'POST /prove': { rows: 1, prepare: () => ({ body: { password: testPassword } }) },
  'DELETE /me/sessions/:id': { rows: 1, prepare: otherSession },
  'POST /me/sessions/end-others': { rows: 1, prepare: () => ({}) },
  'POST /me/passkeys/options': { rows: 0, prepare: () => ({}) },
  'POST /me/passkeys': { provenIn: 'test/dashboard/passkeys.test.ts' },
  'DELETE /me/passkeys/:id': { provenIn: 'test/dashboard/passkeys.test.ts' },
  'POST /me/totp/begin': { rows: 0, prepare: () => ({}) },
  'POST /me/totp': { provenIn: 'test/dashboard/signIn.test.ts' },
  'DELETE /me/totp': { provenIn: 'test/dashboard/signIn.test.ts' },
  'POST /me/recovery-codes': { provenIn: 'test/dashboard/signIn.test.ts' },
  'POST /me/password': { rows: 1, prepare: () => ({ body: { password: 'another quiet river' } }) },
  'PATCH /me': { rows: 1, prepare: () => ({ body: { name: `Name ${unique()}` } }) },
  'POST /keys': { rows: 1, prepare: () => ({ body: { name: 'Shop', scopes: ['payments:read'] } }) },
  'POST /keys/:id/rotate': { rows: 1, prepare: stage => of(key(stage), { body: { overlap: '1h' } }) },
  'POST /keys/:id/revoke': { rows: 1, prepare: stage => of(key(stage)) },
  'POST /webhooks': { rows: 1, prepare: () => ({ body: { url: `https://localhost:1/${unique()}` } }) },
  'PATCH /webhooks/:id': { rows: 1, prepare: stage => of(endpoint(stage), { body: { description: 'Till' } }) },
  'DELETE /webhooks/:id': { rows: 1, prepare: stage => of(endpoint(stage)) },
  'POST /webhooks/:id/reveal': { rows: 1, prepare: stage => of(endpoint(stage)) },
  'POST /webhooks/:id/rotate': { rows: 1, prepare: stage => of(endpoint(stage)) },
  'POST /webhooks/:id/test': { rows: 0, prepare: stage => of(endpoint(stage), { body: { type: 'payment.created' } }) },
  'POST /webhooks/:id/replay': {
    rows: 1,
    prepare: stage => of(endpoint(stage), { body: { from: '2026-01-01', to: '2026-01-02' } }),
  },
  'POST /deliveries/:id/resend': { rows: 1, prepare: delivery },
  'POST /wallets/preview': { rows: 0, prepare: () => ({ body: { network: 'base', treasury } }) },
  'POST /wallets': { rows: 1, prepare: () => ({ body: { network: 'polygon', treasury } }) },
  'POST /wallets/:network/verify': {
    rows: 1,
    prepare: async ({ owner }) => {
      await owner.prove();
      const { wallet } = await owner.do('POST /wallets', { body: { network: 'base', treasury }, ...inProduction });
      return { params: { network: 'base' }, body: { version: wallet!.version }, ...inProduction };
    },
  },
  'POST /wallet-changes/:id/stop': { rows: 1, prepare: pendingChange },
  'POST /wallet-changes/:id/approve': { rows: 1, prepare: othersChange },
  'PATCH /settings': { rows: 1, prepare: () => ({ body: { accountName: `Shop ${unique()}` } }) },
  'POST /restore-review': { rows: 1, prepare: async stage => ({ body: { restoredAt: await restored(stage) } }) },
  'POST /settings/callback-secret/reveal': { rows: 1, prepare: () => ({}) },
  'POST /team/invitations': {
    rows: 1,
    prepare: () => ({ body: { email: `guest${unique()}@example.com`, role: 'viewer' } }),
  },
  'DELETE /team/invitations/:id': {
    rows: 1,
    prepare: async ({ owner }) => {
      await owner.prove();
      const body = { email: `guest${unique()}@example.com`, role: 'viewer' };
      return { params: { id: (await owner.do('POST /team/invitations', { body })).id } };
    },
  },
  'PATCH /team/:id': { rows: 1, prepare: stage => of(member(stage), { body: { role: 'support' } }) },
  'DELETE /team/:id': { rows: 1, prepare: stage => of(member(stage)) },
} as const satisfies Record<Exclude<WriteName, OpenName>, Sample>;
