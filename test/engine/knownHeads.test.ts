import { beforeAll, describe, expect, test } from 'vitest';
import { networksOf } from '../../src/cli/compose.ts';
import { clockSlackMs } from '../../src/core/chain.ts';
import { silentLog } from '../../src/core/log.ts';
import { applyBlocks } from '../../src/engine/chain/applyBlocks.ts';
import { createNetworkDirectory } from '../../src/engine/chain/networkDirectory.ts';
import { assertGenuineTransfers } from '../../src/engine/payments/fundsSeal.ts';
import { TamperedPayment } from '../../src/engine/payments/paymentAddress.ts';
import { writeNetworkStatus } from '../../src/storage/chain/networkStatus.ts';
import { sealTransfer } from '../../src/storage/chain/transferSeals.ts';
import { testVault } from '../support/testVault.ts';
import { type QuietScene, startQuietScene } from '../workers/quietScene.ts';
import { beginAnew, caip2, genesis, makeBlocks, stepOf } from './madeBlocks.ts';

describe('the newest block that a new payment knows', () => {
  let quiet: QuietScene;
  beforeAll(async () => {
    quiet = await startQuietScene();
  });

  const open = async () => {
    const { db } = quiet.context;
    const lease = await beginAnew(db);
    const blocks = makeBlocks(genesis, 'a', 8);
    await applyBlocks(quiet.context, lease, stepOf(blocks.slice(0, 1)));
    const networks = networksOf(quiet.scene.config, null);
    const { slug } = networks.find(each => each.environment === 'sandbox' && each.caip2 === caip2)!;
    let nowMs = 0;
    const directory = createNetworkDirectory(db, networks, () => nowMs);
    return {
      read: (from: number, to: number) => applyBlocks(quiet.context, lease, stepOf(blocks.slice(from, to + 1))),
      /** Writes a latest block, and reads the network as a later request does. */
      async told(latestBlock: bigint) {
        const network = { environment: 'sandbox', network: slug, caip2, status: 'operational' } as const;
        const rest = { reason: null, lagSeconds: 0, disabledCurrencies: {} };
        await writeNetworkStatus(db, [{ ...network, ...rest, latestBlock }]);
        nowMs += 1_000;
        const { headNumber, status } = (await directory.find('sandbox', slug))!;
        return status === 'operational' ? headNumber : status;
      },
    };
  };
  /** As the owner of the tables, past all guards. */
  const unguarded = (sql: string): Promise<void> =>
    quiet.scene.tamper(`set session_replication_role = replica; ${sql}; set session_replication_role = origin`);

  test('is the latest one, and not below what was read', async () => {
    const { read, told } = await open();
    await read(1, 5);
    expect([await told(7n), await told(5n), await told(2n)]).toEqual(['7', '5', '5']);
  });

  test('does not go back with the row of the chain', async () => {
    const { read, told } = await open();
    await unguarded('create table earlier as table chains');
    await read(1, 6);
    expect(await told(0n)).toBe('6');
    await unguarded('delete from chains; insert into chains select * from earlier; drop table earlier');
    expect(await told(0n)).toBe('6');
  });

  test('is not known where the row of the chain was changed', async () => {
    const { read, told } = await open();
    await read(1, 6);
    await unguarded(`update chains set latest_hash = '0x1'`);
    expect(await told(0n)).toBe('down');
  });
});

const createdAt = new Date('2026-01-01T12:00:00Z');
const row = {
  ...{ id: 'pay_1', accountId: 'acct_1', caip2, contract: null, address: '0xa', lostTransfers: null },
  createdAt,
};
const transferAt = (blockNumber: number, blockTimeMs: number) => {
  const facts = {
    ...{ caip2, key: 'k', contract: null, txHash: '0x1', sender: null, amount: '5', blockHash: '0xb', blockNumber },
    ...{ blockTimeMs, verified: true, superseded: false, firstSeenMs: createdAt.getTime() },
  };
  const seal = sealTransfer(testVault, { ...facts, address: row.address }).toString('hex');
  return { ...facts, stray: false, canonical: true, settled: false, told: false, isAsBlock: true, seal };
};

test.each([
  ['older by height and time', '10', 10, -clockSlackMs - 1, true],
  ['of a newer block', '10', 11, -clockSlackMs - 1, false],
  ['as old as clocks may differ', '10', 10, -clockSlackMs, false],
  ['at the address of a forwarder', null, 10, -clockSlackMs - 1, false],
])('a transfer %s decides: head %s, block %i, %i ms, refused: %s', (_, headNumber, block, ms, isRefused) => {
  const check = () =>
    assertGenuineTransfers({ vault: testVault, log: silentLog }, { ...row, headNumber }, [
      transferAt(block, createdAt.getTime() + ms),
    ]);
  if (isRefused) expect(check).toThrow(TamperedPayment);
  else expect(check).not.toThrow();
});
