import type { Environment } from '../../src/core/environment.ts';
import type { Log } from '../../src/core/log.ts';
import type { Queryable } from '../../src/storage/database.ts';
import { type PaymentCalls, paymentCalls } from '../api/paymentCalls.ts';
import { startRpcNode } from '../api/rpcNode.ts';
import { inTransaction } from '../support/asFlorin.ts';
import { startDashboard, type TestDashboard } from '../support/dashboard.ts';
import type { TestAccount } from '../support/florin.ts';
import { until } from '../support/until.ts';

export const treasury = '0x00000000000000000000000000000000DeaDBeef';
export const otherTreasury = '0x00000000000000000000000000000000000A11cE';

export type LogLine = { fields: Record<string, unknown>; message: string };

type Row = { version: number; kind: string; destination: string; takesEffectAt: Date };

/**
 * Moves a pending change back by a day, because the clock cannot be moved, and seals it again. The tests of tampering
 * do the same without the seal.
 */
const bringForward = async (
  { scene, accountId }: TestDashboard,
  { environment, network }: { environment: Environment; network: string },
  within: Queryable | null,
): Promise<void> => {
  const { vault } = scene.admin;
  const db = within ? inTransaction(scene.admin, within) : scene.admin.db;
  const [row] = await db.query<Row>(
    {
      name: 'test-waiting',
      text: `select version, kind, destination, takes_effect_at as "takesEffectAt" from wallets
        where account_id = $1 and environment = $2 and network = $3 order by version desc limit 1`,
    },
    [accountId, environment, network],
  );
  const takesEffectAtMs = row!.takesEffectAt.getTime() - 24 * 3_600_000;
  const mac = vault.walletVersionMac({ accountId, environment, network, ...row!, takesEffectAtMs });
  await db.query(
    {
      name: 'test-bring-forward',
      text: `update wallets set takes_effect_at = to_timestamp($5 / 1000.0), created_at = created_at - interval '1 day', mac = $6
        where account_id = $1 and environment = $2 and network = $3 and version = $4`,
    },
    [accountId, environment, network, row!.version, takesEffectAtMs, mac],
  );
  await db.query(
    {
      name: 'test-bring-stop-forward',
      text: `update wallet_stops set stopped_at = stopped_at - interval '1 day'
        where account_id = $1 and environment = $2 and network = $3 and version = $4`,
    },
    [accountId, environment, network, row!.version],
  );
};

/** A dashboard whose production ethereum accepts payments. */
export const startWalletScene = async () => {
  const errors: LogLine[] = [];
  const nothing = (): void => {};
  const error: Log['error'] = (fields, message) => void errors.push({ fields: { ...fields }, message });
  const log: Log = { debug: nothing, info: nothing, warn: nothing, error };
  const node = await startRpcNode(1);
  const dashboard = await startDashboard({
    log,
    configFile: { networks: { production: { ethereum: { rpcUrls: [node.url] } } } },
  });
  const { scene, accountId, keys } = dashboard;
  await until(
    () => scene.client.call('GET', '/v1/networks/ethereum', { environment: 'production' }),
    answer => answer.json.status === 'operational',
  );
  const owner = await dashboard.as('owner');
  const account = { id: accountId, keys } as TestAccount;
  const live = paymentCalls(scene, account, 'production');

  const treasuryOf = async ({ made }: PaymentCalls): Promise<string> => {
    const { id } = await made({ network: 'ethereum' });
    const [row] = await scene.admin.db.query<{ treasury: string }>(
      { name: 'test-treasury', text: 'select treasury from payments where id = $1' },
      [id],
    );
    return row!.treasury;
  };

  const passDayAfterStop = (): Promise<void> =>
    scene.admin.db.script(
      `update wallet_stops set stopped_at = stopped_at - interval '1 day' where account_id = '${accountId}'`,
    );
  const ask = (body: object, environment: Environment = 'production') =>
    owner.call('POST /wallets', { environment, body: { network: 'ethereum', ...body } });

  return {
    dashboard,
    scene,
    accountId,
    owner,
    live,
    errors,
    /** The treasury of a new production payment. Uses a new key, for which nothing is cached. */
    async paysTo(): Promise<string> {
      const { key } = await scene.key(accountId, 'production');
      return treasuryOf(paymentCalls(scene, { ...account, keys: { ...keys, production: key } }, 'production'));
    },
    passDayAfterStop,
    ask,
    /** Asks for a wallet, a day after the last change was stopped. */
    async request(body: object, environment: Environment = 'production') {
      await passDayAfterStop();
      return ask(body, environment);
    },
    bringForward: (network = 'ethereum', tx: Queryable | null = null) =>
      bringForward(dashboard, { environment: 'production', network }, tx),
    /** Waits until payments with a used key go to this treasury: callers are cached for half a second. */
    paysToSoon: (wanted: string) =>
      until(
        () => treasuryOf(live),
        destination => destination === wanted,
      ),
  };
};
