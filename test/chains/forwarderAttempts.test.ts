import { encodeFunctionData, toHex } from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import forwarderArtefact from '../../contracts/artefacts/Forwarder.json' with { type: 'json' };
import { forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { accounts } from './evmNode.ts';
import {
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

const thief = accounts[2];
const forwardCall = (args: readonly unknown[]) =>
  encodeFunctionData({ abi: forwarderArtefact.abi, functionName: 'forward', args });

describe('nobody can send funds elsewhere', () => {
  test('naming another treasury sweeps another, empty address', async () => {
    const treasury = freshTreasury('attempt one');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await scene.mint(scene.usdc, forwarder!, 100n);
    const receipt = await scene.node.must(scene.sweepCall(thief, scene.usdc, [saltOf(1)]), thief);
    expect(receipt.logs).toEqual([]);
    expect(await scene.tokenBalance(scene.usdc, thief)).toBe(0n);
    expect(await scene.tokenBalance(scene.usdc, forwarder!)).toBe(100n);
  });

  test('a stranger who sweeps moves the funds to the treasury only', async () => {
    const treasury = freshTreasury('attempt two');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await scene.node.must({ to: forwarder!, value: 100n });
    await scene.node.must(scene.sweepCall(treasury, native, [saltOf(1)]), thief);
    expect(await scene.node.balance(treasury)).toBe(100n);
  });

  test('neither a deployed clone nor the implementation obeys a stranger', async () => {
    const treasury = freshTreasury('attempt three');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await scene.mint(scene.usdc, forwarder!, 1n);
    await scene.sweep(treasury, scene.usdc, [saltOf(1)]);
    await scene.mint(scene.usdc, forwarder!, 100n);
    await scene.node.must({ to: forwarder!, value: 100n });
    const implementation = (await scene.node.read(factoryAbi, forwarderFactory, 'implementation')) as string;
    for (const target of [forwarder!, implementation]) {
      for (const args of [
        [scene.usdc, thief, 100n],
        [native, thief, 100n],
        [scene.usdc, treasury, 100n],
      ]) {
        expect((await scene.node.send({ to: target, data: forwardCall(args) }, thief)).status).toBe('0x0');
      }
    }
    // A clone ignores token calls: they succeed without effect.
    for (const functionName of ['transfer', 'approve']) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName, args: [thief, 100n] });
      await scene.node.must({ to: forwarder!, data }, thief);
    }
    const take = encodeFunctionData({ abi: tokenAbi, functionName: 'transferFrom', args: [forwarder, thief, 100n] });
    expect((await scene.node.send({ to: scene.usdc, data: take }, thief)).status).toBe('0x0');
    expect(await scene.tokenBalance(scene.usdc, forwarder!)).toBe(100n);
    expect(await scene.node.balance(forwarder!)).toBe(100n);
  });

  test('through the CREATE2 deployer the same salt and code give another address', async () => {
    const treasury = freshTreasury('attempt four');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    const data = `0x${Buffer.from(saltOf(1)).toString('hex')}600a600c600039600a6000f3602a60005260206000f3`;
    await scene.node.must({ to: scene.deployments.create2Deployer.address, data }, thief);
    expect(await scene.node.code(forwarder!)).toBe('0x');
  });

  test('the zero treasury is refused', async () => {
    expect((await scene.node.send(scene.sweepCall(native, scene.usdc, [saltOf(1)]))).status).toBe('0x0');
  });
});

describe('one bad item harms only itself', () => {
  test.each([
    'FalseToken',
    'RevertingToken',
    'GasBurningToken',
    'HugeAnswerToken',
    'UnreadableToken',
    'ShortAnswerToken',
  ])('%s', async contract => {
    const treasury = freshTreasury(`bad token ${contract}`);
    const bad = await scene.deployHostile(contract);
    const salts = [saltOf(1), saltOf(2)];
    const forwarders = forwardersOf(treasury, salts);
    for (const forwarder of forwarders) await scene.mint(scene.usdc, forwarder, 5n);
    const saltTexts = salts.map(salt => toHex(salt));
    const batches = [bad, scene.usdc].map(token => ({ treasury, token, salts: saltTexts }));
    const data = encodeFunctionData({ abi: factoryAbi, functionName: 'sweepBatches', args: [batches, 200_000n] });
    const receipt = await scene.node.must({ to: forwarderFactory, data, gas: 3_000_000n });
    expect(sweepLogs(receipt).map(log => log.name)).toEqual([
      'ForwardFailed',
      'ForwardFailed',
      'Forwarded',
      'Forwarded',
    ]);
    expect(await scene.tokenBalance(scene.usdc, treasury)).toBe(10n);
  });

  test('a token that burns all gas for one of a hundred holders', async () => {
    const treasury = freshTreasury('picky');
    const salts = Array.from({ length: 100 }, (_, i) => saltOf(i));
    const forwarders = forwardersOf(treasury, salts);
    const token = await scene.deployHostile('PickyToken', [forwarders[50]]);
    for (const forwarder of forwarders) await scene.mint(token, forwarder, 5n);
    const logs = sweepLogs(await scene.sweep(treasury, token, salts));
    expect(logs.filter(log => log.name === 'ForwardFailed').map(log => log.forwarder)).toEqual([forwarders[50]]);
    expect(await scene.tokenBalance(token, treasury)).toBe(99n * 5n);
    expect(await scene.tokenBalance(token, forwarders[50]!)).toBe(5n);
  }, 60_000);

  test('a token address without code', async () => {
    const treasury = freshTreasury('no code');
    const receipt = await scene.sweep(treasury, freshTreasury('not a token'), [saltOf(1)]);
    expect(sweepLogs(receipt).map(log => log.name)).toEqual(['ForwardFailed']);
  });

  test('a treasury that rejects coin keeps it at the forwarder', async () => {
    const treasury = await scene.deployHostile('RejectingTreasury');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await scene.node.must({ to: forwarder!, value: 5n });
    expect(sweepLogs(await scene.sweep(treasury, native, [saltOf(1)])).map(log => log.name)).toEqual(['ForwardFailed']);
    expect(await scene.node.balance(forwarder!)).toBe(5n);
  });

  test('a treasury that sweeps again while being paid gets everything once', async () => {
    const treasury = await scene.deployHostile('ReentrantTreasury', [forwarderFactory, toHex(saltOf(1))]);
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await scene.node.must({ to: forwarder!, value: 5n });
    const logs = sweepLogs(await scene.sweep(treasury, native, [saltOf(1)]));
    expect(logs).toEqual([{ name: 'Forwarded', forwarder, amount: 5n }]);
    expect(await scene.node.balance(treasury)).toBe(5n);
    expect(await scene.node.read(scene.hostileAbi('ReentrantTreasury'), treasury, 'received')).toBe(1n);
  });

  test('too little gas for the calls loses nothing', async () => {
    const treasury = freshTreasury('too little gas');
    const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
    await scene.mint(scene.usdc, forwarder!, 5n);
    await scene.sweep(treasury, scene.usdc, [saltOf(1)], 10_000n);
    expect(await scene.tokenBalance(scene.usdc, forwarder!)).toBe(5n);
    await scene.sweep(treasury, scene.usdc, [saltOf(1)]);
    expect(await scene.tokenBalance(scene.usdc, treasury)).toBe(5n);
  });
});

test('a deposit swept in its own block is reported by the factory', async () => {
  const treasury = freshTreasury('same block');
  const [forwarder] = forwardersOf(treasury, [saltOf(1)]);
  await scene.node.request('evm_setAutomine', false);
  const send = (call: object) =>
    scene.node.request<`0x${string}`>('eth_sendTransaction', { from: accounts[0], gas: '0xf4240', ...call });
  await send({ to: forwarder, value: '0x7' });
  const hash = await send(scene.sweepCall(treasury, native, [saltOf(1)]));
  await scene.node.request('evm_mine');
  await scene.node.request('evm_setAutomine', true);
  expect(sweepLogs(await scene.node.receiptOf(hash))).toEqual([{ name: 'Forwarded', forwarder, amount: 7n }]);
  expect(await scene.node.balance(treasury)).toBe(7n);
});
