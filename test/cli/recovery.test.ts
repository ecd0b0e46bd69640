// @module-tag thorough
import { spawn } from 'node:child_process';
import { access, copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import { devTokens } from '../../src/cli/compose.ts';
import { silentLog } from '../../src/core/log.ts';
import { deriveAddress } from '../../src/engine/payments/paymentAddress.ts';
import { startDevChain } from '../../src/local/devchain/startDevChain.ts';
import { ensureInstanceId } from '../../src/local/instanceId.ts';
import { insertLostAddresses } from '../../src/storage/chain/restores.ts';
import { listUnclaimed } from '../../src/storage/settlement/unclaimed.ts';
import { accounts } from '../chains/evmNode.ts';
import { auditRows } from '../dashboard/auditRows.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { setWallet } from '../support/operator.ts';
import { eventually, until } from '../support/until.ts';
import { type ChainCalls, createChainCalls } from '../watch/chainCalls.ts';
import { startFarChain } from '../watch/farChain.ts';
import { startWatchScene, type WatchScene } from '../watch/watchScene.ts';
import { type Ended, makeRoom, run } from './cliProcess.ts';
import { makeSweepRoom, passphrase, type SweepRoom } from './sweepRoom.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

const florin = fileURLToPath(new URL('../../bin/florin.js', import.meta.url));
const secret = { FLORIN_RECOVERY_PASSPHRASE: passphrase };
const treasury = '0x00000000000000000000000000000000DeaDBeef';
const otherTreasury = '0x00000000000000000000000000000000000A11cE';

type Paid = { readonly id: string; readonly address: string };

let scene: WatchScene;
let sweepRoom: SweepRoom;
/** Where Florin's commands run. */
let room: string;
let file: string;
let usdc: string;
let otherUsdc: string;
let dai: string;
let paid: Paid[];
/** The address of a payment that a restore lost. */
let lost: string;

const exportArguments = (): string[] => [
  ...['export', 'recovery', '--environment', 'sandbox', '--data-dir', scene.florin.config.dataDir],
];
const exportEnv = (env: Record<string, string>) => ({ DATABASE_URL: scene.florin.config.database!.url, ...env });

const exportRecovery = (env: Record<string, string>, ...args: string[]): Promise<Ended> =>
  run([...exportArguments(), ...args], room, exportEnv(env));

const exports = async (): Promise<number> =>
  (await auditRows(scene.florin, scene.account.id)).filter(row => row.action === 'recovery.exported').length;

const watchLost = async (): Promise<string> => {
  const { db, vault } = scene.florin.admin;
  const scope = { accountId: scene.account.id, environment: 'sandbox' } as const;
  const origin = { walletKind: 'forwarder', treasury, index: 12_345n } as const;
  const address = deriveAddress(vault, { scope, ...origin });
  await insertLostAddresses(db, vault, [{ ...scope, ...origin, address }]);
  await scene.chain.payToken(usdc, address, 11_000_000n);
  await until(
    () => listUnclaimed(db, scope, 10),
    rows => rows.some(row => row.address === address),
  );
  return address;
};

beforeAll(async () => {
  sweepRoom = await makeSweepRoom();
  room = await makeRoom();
  // The commands know a network that the running Florin does not need to read.
  const networks = { sandbox: { arbitrum: { rpcUrls: ['http://127.0.0.1:1'] } } };
  await writeFile(join(room, 'florin.config.json'), JSON.stringify({ networks }));
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
  lost = await watchLost();
  file = sweepRoom.path('recovery.json');
});

describe('florin export recovery', () => {
  test('writes an encrypted file once, and a row of the audit log', async () => {
    const account = ['--account', scene.account.id];
    const done = await exportRecovery(secret, ...account, '--output', file, '--json');
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toEqual({
      accountId: scene.account.id,
      environment: 'sandbox',
      file,
      payments: 4,
      lostAddresses: 1,
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

    // Found before a passphrase is needed and before anything is disclosed.
    const again = await exportRecovery({}, ...account, '--output', file);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists already')]);
    expect(await readFile(file, 'utf8')).toBe(text);
    const printed = await exportRecovery(secret, ...account);
    expect(JSON.parse(printed.stdout)).toMatchObject({ format: 'florin-recovery' });

    const rows = (await auditRows(scene.florin, scene.account.id)).filter(row => row.action === 'recovery.exported');
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({
      actor: 'Command line',
      environment: 'sandbox',
      detail: { payments: 4, lostAddresses: 1, leftOut: 0 },
    });
    expect(JSON.stringify(rows)).not.toContain(passphrase);
  });

  test('needs a passphrase of twelve characters and an account that exists, and leaves no file without', async () => {
    const output = ['--output', join(room, 'none.json')];
    for (const weak of [{}, { FLORIN_RECOVERY_PASSPHRASE: 'eleven char' }]) {
      const none = await exportRecovery(weak, '--account', scene.account.id, ...output);
      expect([none.code, none.stdout, none.stderr]).toEqual([2, '', expect.stringContaining('at least 12 characters')]);
    }
    expect((await exportRecovery(secret, '--account', `acct_${'0'.repeat(26)}`, ...output)).code).toBe(3);
    expect(await readdir(room)).not.toContain('none.json');
  });

  test('a write that fails leaves no file', async () => {
    const path = join(room, 'broken.json');
    const args = [florin, ...exportArguments(), '--account', scene.account.id, '--output', path];
    const env = { PATH: process.env.PATH, HOME: room, ...exportEnv(secret) };
    // The shell forbids files of more than 512 bytes.
    const child = spawn('/bin/sh', ['-c', 'ulimit -f 1; exec "$@"', 'sh', process.execPath, ...args], {
      cwd: room,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text;
    });
    const code = await new Promise(resolve => child.once('close', resolve));
    expect([code, stderr]).toEqual([1, expect.stringContaining('EFBIG')]);
    await expect(access(path)).rejects.toThrow('ENOENT');
  });

  test('an export that is interrupted says so and leaves neither file nor trace', async () => {
    const before = await exports();
    const path = join(room, 'interrupted.json');
    // It waits for the first line of an input that stays open.
    const args = [florin, ...exportArguments(), '--account', scene.account.id, '--output', path];
    const env = { PATH: process.env.PATH, HOME: room, ...exportEnv({}) };
    const child = spawn(process.execPath, args, { cwd: room, env, stdio: ['pipe', 'ignore', 'pipe'] });
    atEndOfFile(async () => void child.kill('SIGKILL'));
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text;
    });
    const ended = new Promise(resolve => child.once('close', resolve));
    await eventually(() => access(path));
    child.kill('SIGINT');
    expect([await ended, stderr]).toEqual([1, 'florin: Interrupted. Nothing was exported.\n']);
    await expect(access(path)).rejects.toThrow('ENOENT');
    expect(await exports()).toBe(before);
  });

  test('payments that do not match their seals are left out and counted, and the exit code says so', async () => {
    const { db } = scene.florin.admin;
    const change = (treasuryOfUnpaid: string): Promise<void> =>
      db.script(`begin; alter table payments disable trigger payments_frozen;
        update payments set treasury = '${treasuryOfUnpaid}' where id = '${paid[3]!.id}';
        alter table payments enable trigger payments_frozen; commit`);
    await change(otherTreasury);
    const output = ['--output', join(room, 'partial.json')];
    const partial = await exportRecovery(secret, '--account', scene.account.id, ...output, '--json');
    await change(treasury);
    expect([partial.code, partial.stderr]).toEqual([1, expect.stringContaining(`Left out 1 payments`)]);
    expect(partial.stderr).toContain(paid[3]!.id);
    expect(JSON.parse(partial.stdout)).toMatchObject({ payments: 3, leftOut: [paid[3]!.id] });
    expect(await readdir(room)).toContain('partial.json');
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
    const wrong = await sweepRoom.sweep(['list', file, '--rpc', url], {
      FLORIN_RECOVERY_PASSPHRASE: 'another passphrase',
    });
    expect(wrong).toEqual({ code: 1, stdout: '', stderr: 'The passphrase is wrong, or the file is damaged.\n' });
  });

  test('the script lists, prints and sends: every treasury receives everything, strays included', async () => {
    const listed = await sweepRoom.sweep(['list', file, '--rpc', url]);
    expect(listed.stderr).toBe('');
    const [token, coin, other, stray] = paid as [Paid, Paid, Paid, Paid];
    expect(listed.stdout.trimEnd().split('\n').sort()).toEqual([
      `lost:${lost}  ${lost}  11 USDC  to ${treasury}`,
      `${token.id}  ${token.address}  25 USDC  to ${treasury}`,
      expect.stringMatching(new RegExp(`^${coin.id}  ${coin.address}  0.5 \\w+  to ${treasury}$`)),
      `${other.id}  ${other.address}  7 USDC  to ${otherTreasury}`,
      `${stray.id}  ${stray.address}  3 DAI  to ${treasury}`,
    ]);
    const printed = JSON.parse((await sweepRoom.sweep(['print', file, '--rpc', url])).stdout);
    expect(printed).toHaveLength(4);
    expect(printed[0]).toMatchObject({ chainId: 31337, value: '0x0', data: expect.stringMatching(/^0x/) });

    const sent = await sweepRoom.sweep(['send', file, '--rpc', url]);
    expect([sent.code, sent.stderr]).toEqual([0, '']);
    expect(sent.stdout.trimEnd().split('\n')).toHaveLength(5);
    expect(await chain.tokenBalance(usdc, treasury)).toBe(36_000_000n);
    expect(await chain.coinBalance(treasury)).toBe(5n * 10n ** 17n);
    expect(await chain.tokenBalance(dai, treasury)).toBe(3n * 10n ** 18n);
    expect(await chain.tokenBalance(otherUsdc, otherTreasury)).toBe(7_000_000n);
    const after = await sweepRoom.sweep(['list', file, '--rpc', url]);
    expect(after.stdout).toBe('The addresses hold nothing on this chain.\n');
  });

  test('on another chain it finds look-alikes, and sweeps foreign payments only when asked to', async () => {
    const far = await startFarChain('arbitrum');
    await far.placeToken('WETH', 18);
    const [{ id, address }] = paid as [Paid];
    await far.chain.payToken(far.token('WETH'), address, 9n * 10n ** 18n);
    const own = await sweepRoom.sweep(['send', file, '--rpc', far.url]);
    expect(own).toMatchObject({ code: 0, stdout: 'The addresses hold nothing on this chain.\n' });
    const listed = await sweepRoom.sweep(['list', file, '--rpc', far.url, '--all-payments']);
    expect(listed.stdout).toBe(`${id}  ${address}  9 WETH  to ${treasury}\n`);
    const all = await sweepRoom.sweep(['send', file, '--rpc', far.url, '--all-payments']);
    expect([all.code, all.stderr]).toEqual([0, '']);
    expect(await far.chain.tokenBalance(far.token('WETH'), treasury)).toBe(9n * 10n ** 18n);
  });
});
