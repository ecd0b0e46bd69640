import { expect } from 'vitest';
import type { SweepPlan } from '../../src/core/api/moneyApi.ts';
import type { Payment } from '../../src/core/api/payment.ts';
import { type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount } from '../support/florin.ts';
import { until } from '../support/until.ts';
import type { ChainCalls } from '../watch/chainCalls.ts';
import { localChain } from '../watch/watchScene.ts';

export type MoneyScene = {
  readonly dashboard: TestDashboard;
  readonly owner: DashboardClient;
  readonly chain: ChainCalls;
  /** Calls with an API key of the same account. */
  readonly calls: PaymentCalls;
  readonly account: TestAccount;
  make(fields?: { amount?: string; currency?: string; network?: string; description?: string }): Promise<Payment>;
  /** Simulates an outcome and waits until the payment has this status. */
  simulate(id: string, outcome: string, status: string): Promise<Payment>;
  /** Creates a payment and pays it. */
  paid(fields?: { amount?: string; currency?: string; network?: string }): Promise<Payment>;
  /** The sweep plan for the only treasury with this token. */
  plan(token: { network: string; currency: string }): Promise<SweepPlan>;
  reach(id: string, status: string): Promise<Payment>;
  sql<R extends Record<string, unknown>>(text: string): Promise<R[]>;
};

/** A dashboard with an owner, stopped after the last test of the file. */
export const startMoneyScene = async (options: Parameters<typeof startDashboard>[0] = {}): Promise<MoneyScene> => {
  const dashboard = await startDashboard(options);
  const owner = await dashboard.as('owner');
  const account: TestAccount = {
    id: dashboard.accountId,
    keys: dashboard.keys,
    keyIds: { production: '', sandbox: '' },
  };
  const calls = paymentCalls(dashboard.scene, account);
  const reach: MoneyScene['reach'] = (id, status) =>
    until(
      async () => (await owner.do('GET /payments/:id', { params: { id } })).payment,
      payment => payment.status === status,
    );
  const make: MoneyScene['make'] = fields =>
    owner.do('POST /payments', { body: { amount: '25', currency: 'USDC', network: 'base', ...fields } });
  const simulate: MoneyScene['simulate'] = async (id, outcome, status) => {
    await owner.do('POST /payments/:id/simulate', { params: { id }, body: { outcome } });
    return reach(id, status);
  };
  return {
    dashboard,
    owner,
    chain: await localChain(dashboard.scene.config.dataDir),
    calls,
    account,
    make,
    simulate,
    reach,
    plan: async token => {
      const { unswept } = await owner.do('GET /settlement');
      const isAsked = (row: typeof token) =>
        row.network === token.network && row.currency === token.currency.toUpperCase();
      const [row, ...others] = unswept.filter(isAsked);
      expect(others).toEqual([]);
      return owner.do('POST /settlement/plan', { body: { ...token, treasury: row!.treasury } });
    },
    paid: async fields => simulate((await make(fields)).id, 'paid', 'completed'),
    sql: text => dashboard.scene.admin.db.query({ name: `test-${text.length}-${text.slice(0, 40)}`, text }),
  };
};

export const expectRefused = async (
  answer: Promise<{ status: number; text: string; json: { error?: { code: string; param?: string } } }>,
  status: number,
  code: string,
  param?: string,
): Promise<void> => {
  const { status: found, text, json } = await answer;
  expect(found, text).toBe(status);
  expect(json.error?.code).toBe(code);
  expect(json.error?.param).toBe(param);
};
