import { MERGE, OSAKA } from '@nomicfoundation/edr';
import {
  type Address,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  parseTransaction,
  recoverTransactionAddress,
  toHex,
} from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import { create2DeployerSetup, devChainDeployments } from '../../src/chains/evm/deployments.ts';
import {
  create2Deployer,
  deriveForwarder,
  deriveForwarderBytes,
  forwarderFactory,
} from '../../src/chains/evm/forwarder.ts';
import {
  devTokens,
  type ForwarderScene,
  factoryAbi,
  forwardersOf,
  freshTreasury,
  native,
  saltOf,
  startForwarderScene,
  sweepLogs,
  tokenAbi,
} from './forwarderScene.ts';

let scene: ForwarderScene;
beforeAll(async () => {
  scene = await startForwarderScene();
}, 60_000);

const range = (from: number, count: number): Uint8Array[] => Array.from({ length: count }, (_, i) => saltOf(from + i));

describe('deployments', () => {
  test('the deployer is the well-known one', async () => {
    const raw = create2DeployerSetup.rawTransaction as `0x${string}`;
    const { gas, gasPrice } = parseTransaction(raw);
    expect(gas! * gasPrice!).toBe(create2DeployerSetup.fundingWei);
    const serializedTransaction = raw as Parameters<typeof recoverTransactionAddress>[0]['serializedTransaction'];
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(create2DeployerSetup.signer);
    expect(getContractAddress({ from: create2DeployerSetup.signer, nonce: 0n })).toBe(create2Deployer);
    expect(await scene.node.code(create2Deployer)).not.toBe('0x');
  });

  test('the factory and every token are where they were computed to be', async () => {
    expect(await scene.node.code(forwarderFactory)).not.toBe('0x');
    for (const { slug, symbol, name, decimals } of devTokens) {
      const address = scene.deployments.tokenAddress(slug, symbol);
      const facts = ['name', 'symbol', 'decimals'].map(read => scene.node.read(tokenAbi, address, read));
      expect(await Promise.all(facts)).toEqual([name, symbol, decimals]);
    }
    expect(() => scene.deployments.tokenAddress('base', 'USDC')).toThrow(RangeError);
    expect(() => devChainDeployments([devTokens[0]!, devTokens[0]!])).toThrow(RangeError);
  });

  test('sending a deployment again changes nothing', async () => {
    const before = await scene.node.code(forwarderFactory);
    for (const transaction of scene.deployments.transactions)
      expect((await scene.node.send(transaction)).status).toBe('0x0');
    expect(await scene.node.code(forwarderFactory)).toBe(before);
  });

  test('the USDT of the dev chain returns nothing, the USDC returns true', async () => {
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [freshTreasury('anyone'), 0n] });
    expect(await scene.node.request('eth_call', { to: scene.usdt, data }, 'latest')).toBe('0x');
    expect(await scene.node.request('eth_call', { to: scene.usdc, data }, 'latest')).toBe(toHex(1n, { size: 32 }));
  });
});

describe('derivation', () => {
  test('equals what the factory answers', async () => {
    for (let i = 0; i < 50; i++) {
      const treasury = freshTreasury(`treasury ${i}`);
      const salt = saltOf(i);
      const derived = deriveForwarder({ treasury, salt });
      expect(derived).toBe(await scene.node.read(factoryAbi, forwarderFactory, 'forwarderOf', [treasury, toHex(salt)]));
      expect(deriveForwarder({ treasury, salt, factory: forwarderFactory })).toBe(derived);
      expect(toHex(deriveForwarderBytes({ treasury, salt }))).toBe(derived.toLowerCase());
    }
  });

  test('changes with the treasury, the salt and the factory', () => {
    const treasury = freshTreasury('one');
    const addresses = new Set([
      deriveForwarder({ treasury, salt: saltOf(1) }),
      deriveForwarder({ treasury, salt: saltOf(2) }),
      deriveForwarder({ treasury: freshTreasury('two'), salt: saltOf(1) }),
      deriveForwarder({ treasury, salt: saltOf(1), factory: create2Deployer }),
    ]);
    expect(addresses.size).toBe(4);
    expect(() => deriveForwarder({ treasury, salt: new Uint8Array(31) })).toThrow(RangeError);
    expect(() => deriveForwarder({ treasury: '0x12', salt: saltOf(1) })).toThrow(RangeError);
  });
});

describe('sweep of 100 in one transaction', () => {
  const cases = [
    { name: 'USDC', token: () => scene.usdc },
    { name: 'USDT that returns nothing', token: () => scene.usdt },
    { name: 'native coin', token: () => native },
  ];
  test.each(cases)(
    '$name: exact balances within the gas budget',
    async ({ name, token }) => {
      const treasury = freshTreasury(`sweep ${name}`);
      const salts = range(1000, 100);
      const forwarders = forwardersOf(treasury, salts);
      const amounts = forwarders.map((_, i) => 1_000_000n + BigInt(i));
      for (const [i, forwarder] of forwarders.entries()) {
        if (token() === native) await scene.node.must({ to: forwarder, value: amounts[i]! });
        else await scene.mint(token(), forwarder, amounts[i]!);
      }
      expect(await scene.node.code(forwarders[0]!)).toBe('0x');

      const balance = (holder: string) =>
        token() === native ? scene.node.balance(holder) : scene.tokenBalance(token(), holder);
      const total = amounts.reduce((sum, amount) => sum + amount);
      const receipt = await scene.sweep(treasury, token(), salts);
      const gasPerPayment = Number(BigInt(receipt.gasUsed)) / 100;
      expect(gasPerPayment).toBeLessThanOrEqual(55_000);
      expect(await balance(treasury)).toBe(total);
      for (const forwarder of forwarders) expect(await balance(forwarder)).toBe(0n);
      expect(sweepLogs(receipt)).toEqual(
        forwarders.map((forwarder, i) => ({ name: 'Forwarded', forwarder, amount: amounts[i]! })),
      );

      // The second time there is nothing to do and nothing is logged.
      expect((await scene.sweep(treasury, token(), salts)).logs).toEqual([]);
      expect(await balance(treasury)).toBe(total);

      // Paid again at the address that has code now.
      for (const forwarder of forwarders) {
        if (token() === native) await scene.node.must({ to: forwarder, value: 5n });
        else await scene.mint(token(), forwarder, 5n);
      }
      const again = await scene.sweep(treasury, token(), salts);
      expect(Number(BigInt(again.gasUsed)) / 100).toBeLessThanOrEqual(15_000);
      expect(await balance(treasury)).toBe(total + 500n);
    },
    60_000,
  );

  test('batches of several treasuries and tokens go each to their own', async () => {
    const [first, second] = [freshTreasury('batch one'), freshTreasury('batch two')];
    const salts = range(1, 2);
    for (const forwarder of forwardersOf(first, salts)) await scene.mint(scene.usdc, forwarder, 3n);
    for (const forwarder of forwardersOf(second, salts)) await scene.node.must({ to: forwarder, value: 4n });
    const saltTexts = salts.map(salt => toHex(salt));
    const batches = [
      { treasury: first, token: scene.usdc, salts: saltTexts },
      { treasury: second, token: native, salts: saltTexts },
      { treasury: second, token: scene.usdc, salts: saltTexts },
    ];
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'sweepBatches', args: [batches, 200_000n] });
    await scene.node.must({ to: forwarderFactory, data });
    expect(await scene.tokenBalance(scene.usdc, first)).toBe(6n);
    expect(await scene.node.balance(second)).toBe(8n);
    expect(await scene.tokenBalance(scene.usdc, second)).toBe(0n);
  });

  test('a dry run answers the amounts', async () => {
    const treasury = freshTreasury('dry run');
    const salts = range(1, 3);
    await scene.mint(scene.usdc, forwardersOf(treasury, salts)[1]!, 9n);
    const args = [treasury, scene.usdc, salts.map(salt => toHex(salt)), 200_000n];
    expect(await scene.node.read(factoryAbi, forwarderFactory, 'sweep', args)).toEqual([0n, 9n, 0n]);
  });
});

describe('a clone', () => {
  test('has 43 bytes and points at the implementation', async () => {
    const treasury = freshTreasury('clone');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await scene.node.must({ to: forwarder!, value: 1n });
    await scene.sweep(treasury, native, [saltOf(1)]);
    const implementation = (await scene.node.read(factoryAbi, forwarderFactory, 'implementation')) as Address;
    const code: Hex = `0x3615602a57363d3d373d3d363d73${implementation.slice(2).toLowerCase()}5af4602a573d3dfd5b`;
    expect(await scene.node.code(forwarder!)).toBe(code);
    expect(code.length).toBe(2 + 2 * 43);
  });

  test('accepts a plain send of 2300 gas, and coin with data', async () => {
    const treasury = freshTreasury('plain send');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await scene.node.must({ to: forwarder!, value: 1n });
    await scene.sweep(treasury, native, [saltOf(1)]);
    const sender = await scene.deployHostile('PlainSender');
    const data = encodeFunctionData({ abi: scene.hostileAbi('PlainSender'), functionName: 'send', args: [forwarder] });
    await scene.node.must({ to: sender, data, value: 11n });
    await scene.node.must({ to: forwarder!, data: '0x1234567890', value: 13n });
    expect(await scene.node.balance(forwarder!)).toBe(24n);
    await scene.sweep(treasury, native, [saltOf(1)]);
    expect(await scene.node.balance(treasury)).toBe(25n);
  });
});

// The oldest rules the bytes were compiled for, and the newest the node knows.
test.each([MERGE, OSAKA])(
  'works under the rules of %s',
  async hardfork => {
    const other = await startForwarderScene(hardfork);
    const treasury = freshTreasury('hardfork');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await other.node.must({ to: forwarder!, value: 7n });
    await other.mint(other.usdt, forwarder!, 9n);
    for (const token of [native, other.usdt]) await other.sweep(treasury, token, [saltOf(1)]);
    expect(await other.node.balance(treasury)).toBe(7n);
    expect(await other.tokenBalance(other.usdt, treasury)).toBe(9n);
  },
  60_000,
);
