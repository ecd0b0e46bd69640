import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import { silentLog } from '../../src/core/log.ts';
import { type DevChain, startDevChain } from '../../src/local/devchain/startDevChain.ts';
import { eventually } from '../support/until.ts';

const tokens = [{ slug: 'ethereum', symbol: 'USDC', name: 'USD Coin', decimals: 6 }];
const recipient = '0x00000000000000000000000000000000000f1041';
// No empty blocks: a test mines its blocks itself.
const never = 3_600_000;

let dataDir: string;
let chain: DevChain;
const start = async (more: readonly (typeof tokens)[number][] = []): Promise<void> => {
  const all = [...tokens, ...more];
  chain = await startDevChain({ dataDir, log: silentLog, tokens: all, emptyBlockIntervalMs: never });
};
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'florin-journal-'));
  await start();
});
afterEach(async () => {
  await chain.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const call = (method: string, ...params: unknown[]): Promise<unknown> => callRpc(chain.rpcUrl, method, params);
const pay = async (value: string, more: object = {}): Promise<unknown> => {
  const [from] = (await call('eth_accounts')) as string[];
  return call('eth_sendTransaction', { from, to: recipient, value, ...more });
};
type Block = { number: string; hash: string; timestamp: string; transactions: string[] };
const blockAt = async (number: number | 'latest'): Promise<Block> =>
  (await call('eth_getBlockByNumber', number === 'latest' ? number : `0x${number.toString(16)}`, false)) as Block;
const allHashes = async (): Promise<string[]> => {
  const hashes: string[] = [];
  for (let number = Number((await blockAt('latest')).number); number >= 0; number--) {
    hashes.push((await blockAt(number)).hash);
  }
  return hashes;
};
const balance = async (): Promise<bigint> => BigInt(String(await call('eth_getBalance', recipient, 'latest')));

/** Transactions of every type, a reorg, a balance that was set, and empty blocks. */
const live = async (): Promise<void> => {
  await pay('0x1');
  const state = await call('evm_snapshot');
  await pay('0x2');
  await call('evm_mine');
  await call('evm_revert', state);
  await call('evm_mine');
  await pay('0x10', { gasPrice: '0x77359400' });
  await call('hardhat_setBalance', '0x00000000000000000000000000000000000f1042', '0x5');
  await pay('0x20', { accessList: [{ address: recipient, storageKeys: [`0x${'00'.repeat(32)}`] }] });
  await call('evm_mine');
};

test('a chain that was killed comes back with the same blocks', async () => {
  await live();
  const hashes = await allHashes();
  const pid = chain.pid();
  process.kill(pid!, 'SIGKILL');
  await eventually(() => expect(chain.pid()).not.toBe(pid));
  await eventually(() => expect(chain.pid()).not.toBe(null));
  expect(await allHashes()).toEqual(hashes);
  expect(await balance()).toBe(0x31n);
  await pay('0x100');
  expect(await balance()).toBe(0x131n);
});

test('and after a clean stop, with a token that is new', async () => {
  await live();
  const hashes = await allHashes();
  await chain.stop();
  await start([{ slug: 'bsc', symbol: 'USDT', name: 'Tether USD', decimals: 18 }]);
  expect((await allHashes()).slice(1)).toEqual(hashes);
});

test('a chain that was reverted more than once comes back as it was left', async () => {
  const first = await call('evm_snapshot');
  await pay('0x1');
  await call('evm_mine');
  await call('evm_revert', first);
  await pay('0x2');
  const second = await call('evm_snapshot');
  await pay('0x4');
  await call('evm_revert', second);
  await call('evm_mine');
  const hashes = await allHashes();
  expect(await balance()).toBe(2n);
  await chain.stop();
  await start();
  expect(await allHashes()).toEqual(hashes);
  expect(await balance()).toBe(2n);
});

test('a line that was being written at a crash is none', async () => {
  await live();
  const hashes = await allHashes();
  await chain.stop();
  const path = join(dataDir, 'devchain.journal');
  await appendFile(path, (await readFile(path, 'utf8')).split('\n').at(-2)!.slice(0, 100));
  await start();
  expect(await allHashes()).toEqual(hashes);
  await call('evm_mine');
  const [head] = await allHashes();
  await chain.stop();
  await start();
  expect((await allHashes())[0]).toBe(head);
});

test('blocks that do not come out the same are refused', async () => {
  await live();
  await chain.stop();
  const path = join(dataDir, 'devchain.journal');
  const text = await readFile(path, 'utf8');
  const hash = (JSON.parse(text.split('\n')[3]!) as { hash: string }).hash;
  await writeFile(path, text.replace(hash, `0x${'00'.repeat(32)}`));
  await expect(start()).rejects.toMatchObject({
    cause: { stderr: expect.stringContaining('does not reproduce its blocks') },
  });
  await writeFile(path, text);
  await start();
});

test('undoing a transaction takes it alone out of the chain, for the next start too', async () => {
  await pay('0x1');
  const gone = await pay('0x2');
  const kept = await pay('0x4');
  const height = Number((await blockAt('latest')).number);
  expect(await call('florin_undo', gone)).toBe(true);
  expect(await balance()).toBe(5n);
  expect(Number((await blockAt('latest')).number)).toBe(height + 1);
  expect(await call('eth_getTransactionReceipt', gone)).toBe(null);
  expect(await call('eth_getTransactionReceipt', kept)).toMatchObject({ status: '0x1' });
  const hashes = await allHashes();
  await chain.stop();
  await start();
  expect(await allHashes()).toEqual(hashes);
  await expect(call('florin_undo', gone)).rejects.toMatchObject({ code: -32602 });
});

test('whoever waits for a block hears of it, and is not kept for ever', async () => {
  const { hash } = await blockAt('latest');
  const news = call('florin_waitForBlock', hash, 20_000);
  await call('evm_mine');
  expect(await news).toBe((await blockAt('latest')).hash);
  expect(await call('florin_waitForBlock', hash, 20_000)).toBe((await blockAt('latest')).hash);
  expect(await call('florin_waitForBlock', (await blockAt('latest')).hash, 1)).toBe((await blockAt('latest')).hash);
});

test('chains of different identity have no block in common; one of the same begins alike', async () => {
  const begin = async (identity: string): Promise<string[]> => {
    await chain.stop();
    chain = await startDevChain({ dataDir, log: silentLog, tokens, emptyBlockIntervalMs: never, identity });
    return allHashes();
  };
  const path = join(dataDir, 'devchain.journal');
  await rm(path);
  const one = await begin('one');
  expect(await begin('two'), 'a chain with a journal keeps its identity').toEqual(one);
  await rm(path);
  const two = await begin('two');
  expect(two).toHaveLength(one.length);
  expect(two.filter(hash => one.includes(hash))).toEqual([]);
  await rm(path);
  expect(await begin('one'), 'a lost journal').toEqual(one);
});
