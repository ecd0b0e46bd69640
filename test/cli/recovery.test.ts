// @module-tag thorough
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import { devTokens } from '../../src/cli/compose.ts';
import { silentLog } from '../../src/core/log.ts';
import { setWallet } from '../../src/engine/setWallet.ts';
import { startDevChain } from '../../src/local/devchain/startDevChain.ts';
import { ensureInstanceId } from '../../src/local/instanceId.ts';
import { accounts } from '../chains/evmNode.ts';
import { auditRows } from '../dashboard/auditRows.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { type ChainCalls, createChainCalls } from '../watch/chainCalls.ts';
import { startFarChain } from '../watch/farChain.ts';
import { startWatchScene, type WatchScene } from '../watch/watchScene.ts';
import { type Ended, makeRoom, run } from './cliProcess.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const script = fileURLToPath(new URL('../../recovery/sweep.mjs', import.meta.url));
const viem = fileURLToPath(new URL('../../node_modules/viem', import.meta.url));
const passphrase = 'a quiet river at noon';
/** The second account of the chains of the tests; on the local chain it is given some coin. It only pays gas. */
const gasKey = `0x${'2'.padStart(64, '0')}`;
const treasury = '0x00000000000000000000000000000000DeaDBeef';
const otherTreasury = '0x00000000000000000000000000000000000A11cE';

type Paid = { readonly id: string; readonly address: string };

let scene: WatchScene;
/** Contains the script, viem and the recovery file, and nothing of Florin. */
let room: string;
let file: string;
let usdc: string;
let otherUsdc: string;
let dai: string;
let paid: Paid[];

const exportRecovery = (env: Record<string, string>, ...args: string[]): Promise<Ended> => {
  const { dataDir, database } = scene.florin.config;
  const fixed = ['export', 'recovery', '--environment', 'sandbox', '--data-dir', dataDir];
  return run([...fixed, ...args], room, { DATABASE_URL: database!.url, ...env });
};

const sweep = async (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> => {
  const secrets = { FLORIN_RECOVERY_PASSPHRASE: passphrase, RECOVERY_PRIVATE_KEY: gasKey };
  const child: ChildProcess = spawn(process.execPath, ['sweep.mjs', ...args], {
    cwd: room,
    env: { PATH: process.env.PATH, ...secrets, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const code = await new Promise<number | null>(resolve => child.once('close', resolve));
  return { code, ...texts };
};

beforeAll(async () => {
  room = await makeRoom();
  await copyFile(script, join(room, 'sweep.mjs'));
  await mkdir(join(room, 'node_modules'));
  await symlink(viem, join(room, 'node_modules', 'viem'));
  scene = await startWatchScene();
  const scope = { accountId: scene.account.id, environment: 'sandbox' } as const;
  await setWallet(scene.florin.admin, scope, 'base', { treasury });
  await setWallet(scene.florin.admin, scope, 'ethereum', { treasury: otherTreasury });
  usdc = await scene.token('base', 'USDC');
  otherUsdc = await scene.token('ethereum', 'USDC');
  dai = await scene.token('base', 'DAI');
  const token = await scene.calls.made({ amount: '25' });
  const coin = await scene.calls.made({ amount: '0.5', currency: 'ETH' });
  const other = await scene.calls.made({ amount: '7', network: 'ethereum' });
  const unpaid = await scene.calls.made();
  paid = [token, coin, other, unpaid];
  await scene.chain.payToken(usdc, token.address, 25_000_000n);
  await scene.chain.payCoin(coin.address, 5n * 10n ** 17n);
  await scene.chain.payToken(otherUsdc, other.address, 7_000_000n);
  // A stray: another token than the one that was asked for.
  await scene.chain.payToken(dai, unpaid.address, 3n * 10n ** 18n);
  for (const { id } of paid.slice(0, 3)) await scene.reach(id, 'completed');
  file = join(room, 'recovery.json');
});

describe('florin export recovery', () => {
  test('writes an encrypted file once, and a row of the audit log', async () => {
    const secret = { FLORIN_RECOVERY_PASSPHRASE: passphrase };
    const account = ['--account', scene.account.id];
    const done = await exportRecovery(secret, ...account, '--output', file, '--json');
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toEqual({
      accountId: scene.account.id,
      environment: 'sandbox',
      file,
      payments: 4,
      leftOut: [],
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const text = await readFile(file, 'utf8');
    expect(text).not.toMatch(/deadbeef/i);
    expect(JSON.parse(text)).toMatchObject({
      format: 'florin-recovery',
      version: 1,
      kdf: { name: 'scrypt' },
      cipher: { name: 'aes-256-gcm' },
    });

    const again = await exportRecovery(secret, ...account, '--output', file);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists already')]);
    expect(await readFile(file, 'utf8')).toBe(text);
    const printed = await exportRecovery(secret, ...account);
    expect(JSON.parse(printed.stdout)).toMatchObject({ format: 'florin-recovery' });

    const rows = (await auditRows(scene.florin, scene.account.id)).filter(row => row.action === 'recovery.exported');
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({
      actor: 'Command line',
      environment: 'sandbox',
      detail: { payments: 4, leftOut: 0 },
    });
    expect(JSON.stringify(rows)).not.toContain(passphrase);
  });

  test('needs a passphrase and an account that exists', async () => {
    const none = await exportRecovery({}, '--account', scene.account.id);
    expect([none.code, none.stdout, none.stderr]).toEqual([2, '', expect.stringContaining('at least 8 characters')]);
    const secret = { FLORIN_RECOVERY_PASSPHRASE: passphrase };
    expect((await exportRecovery(secret, '--account', `acct_${'0'.repeat(26)}`)).code).toBe(3);
  });
});

describe('with Florin gone', () => {
  let url: string;
  let chain: ChainCalls;
  beforeAll(async () => {
    const dataDir = await makeRoom();
    await scene.florin.florin.stop();
    for (const name of ['devchain.journal', 'instance']) {
      await copyFile(join(scene.florin.config.dataDir, name), join(dataDir, name));
    }
    await scene.stop();
    const identity = await ensureInstanceId(dataDir);
    const devChain = await startDevChain({ dataDir, log: silentLog, tokens: devTokens(), identity });
    atEndOfFile(() => devChain.stop());
    url = devChain.rpcUrl;
    chain = createChainCalls(<T>(method: string, ...params: unknown[]) => callRpc(url, method, params) as Promise<T>);
    await chain.payCoin(accounts[1], 10n ** 18n);
  });

  test('a wrong passphrase is a clear error', async () => {
    const wrong = await sweep(['list', file, '--rpc', url], { FLORIN_RECOVERY_PASSPHRASE: 'another passphrase' });
    expect(wrong).toEqual({ code: 1, stdout: '', stderr: 'The passphrase is wrong, or the file is damaged.\n' });
  });

  test('the script lists, prints and sends: every treasury receives everything, strays included', async () => {
    const listed = await sweep(['list', file, '--rpc', url]);
    expect(listed.stderr).toBe('');
    const [token, coin, other, stray] = paid as [Paid, Paid, Paid, Paid];
    expect(listed.stdout.trimEnd().split('\n').sort()).toEqual([
      `${token.id}  ${token.address}  25 USDC  to ${treasury}`,
      expect.stringMatching(new RegExp(`^${coin.id}  ${coin.address}  0.5 \\w+  to ${treasury}$`)),
      `${other.id}  ${other.address}  7 USDC  to ${otherTreasury}`,
      `${stray.id}  ${stray.address}  3 DAI  to ${treasury}`,
    ]);
    const printed = JSON.parse((await sweep(['print', file, '--rpc', url])).stdout);
    expect(printed).toHaveLength(4);
    expect(printed[0]).toMatchObject({ chainId: 31337, value: '0x0', data: expect.stringMatching(/^0x/) });

    const sent = await sweep(['send', file, '--rpc', url]);
    expect([sent.code, sent.stderr]).toEqual([0, '']);
    expect(sent.stdout.trimEnd().split('\n')).toHaveLength(4);
    expect(await chain.tokenBalance(usdc, treasury)).toBe(25_000_000n);
    expect(await chain.coinBalance(treasury)).toBe(5n * 10n ** 17n);
    expect(await chain.tokenBalance(dai, treasury)).toBe(3n * 10n ** 18n);
    expect(await chain.tokenBalance(otherUsdc, otherTreasury)).toBe(7_000_000n);
    const after = await sweep(['list', file, '--rpc', url]);
    expect(after.stdout).toBe('The addresses hold nothing on this chain.\n');
  });

  test('on a chain without the factory it deploys it first, and sweeps foreign payments only when asked to', async () => {
    const far = await startFarChain('arbitrum', 0, { factory: false });
    await far.placeToken('USDC', 6);
    const [{ id, address }] = paid as [Paid];
    await far.chain.payToken(far.token('USDC'), address, 9_000_000n);
    const extra = [file, '--rpc', far.url, '--token', far.token('USDC')];
    const own = await sweep(['send', ...extra]);
    expect(own).toMatchObject({ code: 0, stdout: 'The addresses hold nothing on this chain.\n' });
    const all = await sweep(['send', ...extra, '--all-payments']);
    expect([all.code, all.stderr]).toEqual([0, '']);
    expect(all.stdout).toContain(id);
    expect(await far.chain.tokenBalance(far.token('USDC'), treasury)).toBe(9_000_000n);
  });
});
