import { HDKey } from '@scure/bip32';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { create2Deployer, forwarderFactory, forwarderImplementation } from '../../src/chains/evm/forwarder.ts';
import { deriveXpubAddress } from '../../src/chains/evm/xpub.ts';
import { slugs } from '../../src/core/registry/backings.ts';
import { testTreasury } from '../../src/engine/wallets/treasury.ts';
import { expectError, expectInvalid } from '../api/paymentCalls.ts';
import { setWallet } from '../support/operator.ts';
import { auditRows } from './auditRows.ts';
import { otherTreasury, startWalletScene, treasury } from './walletScene.ts';

let wallets: Awaited<ReturnType<typeof startWalletScene>>;
beforeAll(async () => {
  wallets = await startWalletScene();
});
beforeEach(() => wallets.owner.prove());

const account = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive("m/44'/60'/0'");
const xpub = account.publicExtendedKey;
const xprv = account.privateExtendedKey;
/** "test test test test test test test test test test test junk" */
const knownSeed =
  '9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0';
const knownXpub = HDKey.fromMasterSeed(Buffer.from(knownSeed, 'hex')).derive("m/44'/60'/0'").publicExtendedKey;

const production = { environment: 'production' } as const;
const audited = () => auditRows(wallets.scene, wallets.accountId);
const liveVersions = async () => {
  const text = `select network, version from wallets where account_id = $1 and environment = 'production'`;
  return wallets.scene.admin.db.query({ name: 'test-versions', text }, [wallets.accountId]);
};

test('every network of the environment is listed, set or not', async () => {
  const live = await wallets.owner.do('GET /wallets', production);
  expect(live.data).toEqual([...slugs].sort().map(network => ({ network, kind: null, pending: null })));
  const sandbox = await wallets.owner.do('GET /wallets');
  expect(sandbox.data.map(each => each.network)).toEqual([...slugs].sort());
  for (const wallet of sandbox.data) {
    expect(wallet).toMatchObject({ destination: testTreasury(wallets.accountId), version: 1, sampleAddresses: [] });
  }
});

describe('an extended public key', () => {
  test('is previewed with its first five addresses, and nothing is written', async () => {
    const body = { network: 'base', xpub: ` ${xpub} ` };
    const rows = (await audited()).length;
    expect(await wallets.owner.do('POST /wallets/preview', { ...production, body })).toEqual({
      kind: 'xpub',
      destination: xpub,
      sampleAddresses: [0, 1, 2, 3, 4].map(index => deriveXpubAddress(xpub, index)),
      waitsHours: 0,
    });
    expect(await liveVersions()).toEqual([]);
    expect(await audited()).toHaveLength(rows);
  });

  test('is verified for the version that was seen, once', async () => {
    const { json } = await wallets.request({ network: 'polygon', xpub });
    expect(json.wallet).toMatchObject({ kind: 'xpub', version: 1, verifiedAt: null });
    const verify = (version: number) =>
      wallets.owner.call('POST /wallets/:network/verify', {
        ...production,
        params: { network: 'polygon' },
        body: { version },
      });
    const isStepDone = async () =>
      (await wallets.owner.do('GET /go-live')).steps.find(step => step.key === 'wallet')!.done;
    expectError(await verify(2), 409, 'conflict');
    expect(await isStepDone()).toBe(false);
    const first = await verify(1);
    expect(first.json, first.text).toMatchObject({ version: 1, verifiedAt: expect.any(String) });
    expect((await verify(1)).json).toEqual(first.json);
    expect(await isStepDone()).toBe(true);
    expect((await audited()).filter(row => row.action === 'wallet.verified')).toEqual([
      expect.objectContaining({ subject: 'polygon', detail: { version: 1, destination: xpub } }),
    ]);
    // A pending change is not verified, and a preview says how long it waits.
    const preview = { ...production, body: { network: 'polygon', treasury } };
    expect(await wallets.owner.do('POST /wallets/preview', preview)).toMatchObject({ waitsHours: 24 });
    await wallets.request({ network: 'polygon', treasury });
    await wallets.bringForward('polygon');
    const { data } = await wallets.owner.do('GET /wallets', production);
    expect(data.find(each => each.network === 'polygon')).toMatchObject({ version: 2, verifiedAt: null });
    expectError(await verify(1), 409, 'conflict');
    expect(await isStepDone()).toBe(false);
  });

  test('of no wallet cannot be verified', async () => {
    const params = { network: 'avalanche' };
    const answer = await wallets.owner.call('POST /wallets/:network/verify', {
      ...production,
      params,
      body: { version: 1 },
    });
    expectError(answer, 404, 'not_found');
  });
});

describe('is refused, and nothing is written:', () => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const usdcOnBase = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
  const badChecksum = '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const phrase = 'test test test test test test test test test test test junk';
  const cases: readonly (readonly [string, string, object])[] = [
    ['the zero address', 'treasury', { treasury: `0x${'0'.repeat(40)}` }],
    ["a token's contract", 'treasury', { treasury: usdc }],
    ["a token's contract in lower case, on another network", 'treasury', { treasury: usdcOnBase.toLowerCase() }],
    ['the factory', 'treasury', { treasury: forwarderFactory }],
    ["the forwarders' code", 'treasury', { treasury: forwarderImplementation }],
    ['the deployer of contracts', 'treasury', { treasury: create2Deployer }],
    [
      'an account that every development tool has',
      'treasury',
      { treasury: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' },
    ],
    ['a bad checksum', 'treasury', { treasury: badChecksum }],
    ['a private key', 'treasury', { treasury: `0x${'a1'.repeat(32)}` }],
    ['a recovery phrase', 'treasury', { treasury: phrase }],
    ['no address', 'treasury', { treasury: 'my wallet' }],
    ['an extended private key', 'xpub', { xpub: xprv }],
    ['a key that every development tool has', 'xpub', { xpub: knownXpub }],
    ['a key with a typing error', 'xpub', { xpub: `${xpub.slice(0, -1)}9` }],
    ['a key of a test network', 'xpub', { xpub: `tpub${xpub.slice(4)}` }],
    ['both', 'treasury', { treasury, xpub }],
    ['neither', 'treasury', {}],
    ['a network that there is not', 'network', { network: 'solana', treasury }],
  ];
  test.each(cases)('%s', async (_, param, body) => {
    const before = await liveVersions();
    const answer = await wallets.request({ network: 'base', ...body });
    expectInvalid(answer, param);
    expectInvalid(
      await wallets.owner.call('POST /wallets/preview', { ...production, body: { network: 'base', ...body } }),
      param,
    );
    expect(await liveVersions()).toEqual(before);
  });

  test('the test treasury of the sandbox', async () => {
    expectInvalid(await wallets.request({ network: 'base', treasury: testTreasury(wallets.accountId) }), 'treasury');
  });

  test('an address that was ever given to a payment, of whatever account', async () => {
    const other = await wallets.scene.account();
    const body = { amount: '1', currency: 'USDC', network: 'base' };
    const { json } = await wallets.scene.client.call('POST', '/v1/payments', { key: other.keys.sandbox, body });
    expectInvalid(await wallets.request({ network: 'base', treasury: json.address }), 'treasury');
    expectInvalid(await wallets.request({ network: 'base', treasury: json.address }, 'sandbox'), 'treasury');
  });

  test("a token of the local chain, also by the operator's command", async () => {
    const { json } = await wallets.scene.client.call('GET', '/v1/networks/base', {});
    const token = json.currencies.find((each: { symbol: string }) => each.symbol === 'USDC').contractAddress;
    expectInvalid(await wallets.request({ network: 'base', treasury: token }), 'treasury');
    const scope = { accountId: wallets.accountId, environment: 'production' } as const;
    for (const address of [usdc, forwarderFactory, `0x${'0'.repeat(40)}`]) {
      await expect(setWallet(wallets.scene.admin, scope, 'base', { treasury: address })).rejects.toMatchObject({
        code: 'invalid_request',
        param: 'treasury',
      });
    }
  });

  test('a secret, without repeating it in the answer, the log or the audit log', async () => {
    for (const body of [{ xpub: xprv }, { treasury: `0x${'a1'.repeat(32)}` }, { treasury: phrase }]) {
      const answer = await wallets.request({ network: 'base', ...body });
      expect(answer.json.error!.message).toMatch(/Keep it secret and never paste it/);
      const told = JSON.stringify([answer.text, wallets.errors, await audited()]);
      expect(told).not.toContain(Object.values(body)[0]);
    }
  });
});

test("the operator's command is in force at once, stops what waits, and is audited", async () => {
  await wallets.request({ network: 'optimism', treasury });
  await wallets.request({ network: 'optimism', treasury: otherTreasury });
  const scope = { accountId: wallets.accountId, environment: 'production' } as const;
  await setWallet(wallets.scene.admin, scope, 'optimism', { xpub });
  const { data } = await wallets.owner.do('GET /wallets', production);
  expect(data.find(each => each.network === 'optimism')).toMatchObject({
    destination: xpub,
    version: 3,
    pending: null,
  });
  expect((await wallets.owner.do('GET /announcements')).walletChanges).toEqual([]);
  expect((await audited()).at(-1)).toEqual({
    action: 'wallet.set',
    subject: 'optimism',
    environment: 'production',
    actor: 'Command line',
    detail: { kind: 'xpub', destination: xpub, version: 3, stoppedChange: otherTreasury, stoppedVersion: 2 },
  });
});
