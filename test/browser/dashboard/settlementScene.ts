import { writeDifferences } from '../../../src/storage/settlement/differences.ts';
import type { DashboardClient, TestDashboard } from '../../support/dashboard.ts';
import { setWallet } from '../../support/operator.ts';
import { until } from '../../support/until.ts';
import { localChain } from '../../watch/watchScene.ts';

const caip2 = 'eip155:31337';
const lost = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';

/** Coin at a lost address, without a transaction of its own: only the key tells two of them apart. */
export const addUnclaimed = async (
  { scene, accountId }: TestDashboard,
  key: string,
  wei = 10n ** 18n,
): Promise<void> => {
  await scene.admin.db.script(`
    insert into lost_addresses (address, account_id, environment, wallet_kind, treasury, derivation_index)
      values ('${lost}', '${accountId}', 'sandbox', 'forwarder', '${lost}', 1) on conflict do nothing;
    insert into unclaimed_funds (caip2, key, address, amount, block_hash, block_number, canonical, verified)
      select '${caip2}', '${key}', '${lost}', ${wei}, hash, number, true, true
      from blocks where caip2 = '${caip2}' and canonical order by number limit 1`);
};

/** The records lose half a unit. The difference is written at once, as the next round of comparison would. */
const addDifference = async ({ scene, accountId }: TestDashboard, id: string): Promise<void> => {
  const { db } = scene.admin;
  await db.script(`set session_replication_role = replica;
    update transfers set amount = amount - 500000 where payment_id = '${id}'; set session_replication_role = origin`);
  const text = 'select contract from payments where id = $1';
  const [payment] = await db.query<{ contract: string }>({ name: 'test-contract', text }, [id]);
  const key = { accountId, environment: 'sandbox', id } as const;
  await writeDifferences(db, caip2, [
    { key, contract: payment!.contract, amount: 500_000n, recorded: 0n, blockNumber: 1 },
  ]);
};

/** A Settlement page with everything: unclaimed funds, a difference, a stray, and a contract that nobody confirmed. */
export const fillSettlement = async (dashboard: TestDashboard, owner: DashboardClient): Promise<string> => {
  const { scene, accountId } = dashboard;
  const chain = await localChain(scene.config.dataDir);
  const simulate = async (network: string, outcome: string): Promise<string> => {
    const { id } = await owner.do('POST /payments', { body: { amount: '25', currency: 'USDC', network } });
    await owner.do('POST /payments/:id/simulate', { params: { id }, body: { outcome } });
    return id;
  };
  const { address: safe } = await chain.deploy('PlainSender');
  await setWallet(scene.admin, { accountId, environment: 'sandbox' }, 'ethereum', { treasury: safe });
  const odd = await simulate('base', 'paid');
  await simulate('base', 'wrong_token');
  // Wallets are cached for half a second.
  await until(
    async () => {
      const id = await simulate('ethereum', 'paid');
      return owner.do('GET /payments/:id', { params: { id } });
    },
    ({ treasury }) => treasury === safe,
  );
  await until(
    () => owner.do('GET /settlement'),
    ({ unswept }) => unswept.some(row => row.strays > 0) && unswept.some(row => row.isConfirmable),
  );
  for (const each of ['first', 'second']) await addUnclaimed(dashboard, each);
  await addDifference(dashboard, odd);
  return safe;
};
