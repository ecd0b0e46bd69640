import { dirname } from 'node:path';
import { expect } from 'vitest';
import { type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { type Receiver, startReceiver, verify } from '../deliveries/receiver.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount } from '../support/florin.ts';
import { setWallet } from '../support/operator.ts';
import { addTotp } from '../support/secondFactor.ts';
import type { Answer } from '../support/send.ts';
import { until } from '../support/until.ts';
import { type CliProcess, type Ended, launch, run } from './cliProcess.ts';

const treasury = '0x00000000000000000000000000000000DeaDBeef';

export type RotationScene = {
  readonly dashboard: TestDashboard;
  readonly account: TestAccount;
  readonly calls: PaymentCalls;
  readonly receiver: Receiver;
  readonly secret: string;
  readonly owner: DashboardClient;
  readonly recoveryCodes: readonly string[];
  readonly nextCode: string;
  readonly paid: string;
  readonly unpaid: string;
  /** The same request with the same key, as often as it is called. */
  repeat(): Promise<Answer>;
  repeatSecret(): Promise<Answer>;
  /** The settings of commands. */
  readonly env: Record<string, string>;
  /** A command beside the server. */
  florin(...args: string[]): Promise<Ended>;
  rotate(): CliProcess;
};

/** An account with one of everything that is made with the master key. */
export const startRotationScene = async (settings: Record<string, string> = {}): Promise<RotationScene> => {
  const dashboard = await startDashboard({ env: { FLORIN_ROLES: 'api,watch,deliver', ...settings } });
  const { scene, accountId, keys } = dashboard;
  const account = { id: accountId, keys } as TestAccount;
  const calls = paymentCalls(scene, account);
  const receiver = await startReceiver();
  const key = keys.sandbox;
  const keyed = { key, headers: { 'idempotency-key': 'once' } };
  const body = {
    amount: '7',
    currency: 'USDC',
    network: 'base',
    externalId: 'kept',
    callbackUrl: `${receiver.url}/callback`,
  };
  const repeat = () => scene.client.call('POST', '/v1/payments', { ...keyed, body });
  const repeatSecret = () =>
    scene.client.call('POST', '/v1/webhooks', { ...keyed, body: { url: `${receiver.url}/hook` } });

  const endpoint = await repeatSecret();
  expect(endpoint.status, endpoint.text).toBe(200);
  expect((await repeat()).status).toBe(200);
  await setWallet(scene.admin, { accountId, environment: 'production' }, 'ethereum', { treasury });
  const { id: paid } = await calls.made();
  const { id: unpaid } = await calls.made();
  await scene.client.call('POST', `/v1/sandbox/payments/${paid}/simulate`, { key, body: { outcome: 'paid' } });
  await until(
    () => calls.read(paid),
    ({ json }) => json.status === 'completed',
  );
  const owner = await dashboard.as('owner');
  await owner.prove();
  const { recoveryCodes, next } = await addTotp(owner);
  const { dataDir, database } = scene.config;
  const env = { DATABASE_URL: database!.url, ...settings };
  const room = dirname(dataDir);
  return {
    dashboard,
    account,
    calls,
    receiver,
    secret: endpoint.json.secret,
    owner,
    recoveryCodes,
    nextCode: next,
    env,
    paid,
    unpaid,
    repeat,
    repeatSecret,
    florin: (...args) => run([...args, '--data-dir', dataDir], room, env),
    rotate: () => launch(['rotate', 'master-key', '--json', '--data-dir', dataDir], room, env),
  };
};

/** A new payment is told to the endpoint, signed with the secret that the merchant has. */
export const expectSignedEvent = async ({ calls, receiver, secret }: RotationScene): Promise<void> => {
  const { id } = await calls.made();
  await until(
    () => receiver.received,
    received => received.some(each => each.path === '/hook' && each.body.includes(id)),
  );
  verify(secret, receiver.received.find(each => each.path === '/hook' && each.body.includes(id))!);
};

/** Every check of florin doctor, and what it finds. */
export const findingsOf = async ({ florin }: RotationScene): Promise<string> => {
  const { stdout } = await florin('doctor', '--json');
  const { findings } = JSON.parse(stdout) as { findings: { ok: boolean; detail: string }[] };
  return findings
    .filter(each => !each.ok)
    .map(each => each.detail)
    .join('; ');
};
