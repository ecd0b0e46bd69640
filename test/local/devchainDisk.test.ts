import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import { silentLog } from '../../src/core/log.ts';
import { startDevChain } from '../../src/local/devchain/startDevChain.ts';
import { canMount, fillDisk, mountSmallDisk } from '../support/smallDisk.ts';
import { eventually } from '../support/until.ts';

const recipient = '0x00000000000000000000000000000000000f1041';

test.runIf(canMount)(
  'a dev chain on a full disk loses no block that it told of, and goes on with room',
  { tags: ['thorough'] },
  async () => {
    const room = await mkdtemp(join(tmpdir(), 'florin-devchain-'));
    const dataDir = join(room, 'data');
    const unmount = await mountSmallDisk(dataDir, 4);
    const start = () => startDevChain({ dataDir, log: silentLog, tokens: [], emptyBlockIntervalMs: 3_600_000 });
    let chain = await start();
    const call = (method: string, ...params: unknown[]) => callRpc(chain.rpcUrl, method, params);
    const pay = async (): Promise<unknown> => {
      const [from] = (await call('eth_accounts')) as string[];
      return await call('eth_sendTransaction', { from, to: recipient, value: '0x1', data: `0x${'fe'.repeat(1_000)}` });
    };
    const blockOf = async (transaction: unknown): Promise<unknown> =>
      ((await call('eth_getTransactionReceipt', transaction)) as { blockHash: string } | null)?.blockHash;
    const balance = async (): Promise<number> => Number(await call('eth_getBalance', recipient, 'latest'));
    try {
      const told: unknown[] = [];
      const before = chain.pid();
      const filler = join(dataDir, 'filler');
      await fillDisk(filler);
      // The rest of the journal's last page has room still.
      await expect(
        (async () => {
          for (;;) told.push(await pay());
        })(),
      ).rejects.toThrow();
      await eventually(() => expect(chain.pid()).not.toBe(before));
      await rm(filler);
      await eventually(async () => told.push(await pay()));
      const blocks = await Promise.all(told.map(blockOf));
      expect(blocks).not.toContain(undefined);
      const paid = await balance();
      expect(paid).toBeGreaterThanOrEqual(told.length);

      await chain.stop();
      chain = await start();
      expect(await Promise.all(told.map(blockOf))).toEqual(blocks);
      expect(await balance()).toBe(paid);
    } finally {
      await chain.stop();
      unmount();
      await rm(room, { recursive: true, force: true });
    }
  },
);
