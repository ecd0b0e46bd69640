// @module-tag thorough
import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, expect, test, vi } from 'vitest';
import { create2Deployer, deriveForwarder, forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { factoryFacts } from '../../src/cli/exportCommands.ts';
import { sealLines } from '../../src/vault/recoveryEnvelope.ts';
import { accounts } from '../chains/evmNode.ts';
import { placeDeployer } from '../chains/placeFactory.ts';
import { type FarChain, startFarChain } from '../watch/farChain.ts';
import { makeSweepRoom, passphrase, type SweepRoom } from './sweepRoom.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const treasury = '0x00000000000000000000000000000000DeaDBeef';
const chainId = 421614;
const none = 'The addresses hold nothing on this chain.\n';

let room: SweepRoom;
let file: string;
let far: FarChain;

const paymentOf = (at: number) => {
  const salt = Buffer.alloc(32, at + 1);
  const address = deriveForwarder({ treasury, salt });
  const [contract, decimals] = [far.token('USDC'), 6];
  const fields = { id: `pay_${at}`, network: 'arbitrum', chainId, currency: 'USDC', contract, decimals, treasury };
  return { ...fields, salt: `0x${salt.toString('hex')}`, address };
};
const addressOf = (at: number): string => paymentOf(at).address;

/** A recovery file, as Florin would write it for these payments. */
const writeFileOf = async (name: string, payments: readonly object[]): Promise<string> => {
  const header = {
    factory: { address: forwarderFactory, ...factoryFacts() },
    networks: [{ network: 'arbitrum', chainId, nativeCurrency: 'ETH', tokens: [] }],
  };
  const lines = async function* (): AsyncGenerator<string> {
    for (const line of [header, ...payments]) yield `${JSON.stringify(line)}\n`;
  };
  await writeFile(room.path(name), JSON.stringify(await sealLines(passphrase, lines())));
  return room.path(name);
};

const sweep = (command: string, ...args: string[]) => room.sweep([command, file, '--rpc', far.url, ...args]);

/** A token whose code is given. Its address says so. */
const placeOdd = async (number: number, code: string): Promise<string> => {
  const address = `0x${number.toString().padStart(40, '0')}`;
  await far.node.request('hardhat_setCode', address, code);
  return address;
};
const linesOf = (text: string): string[] => text.trimEnd().split('\n');

beforeAll(async () => {
  room = await makeSweepRoom();
  far = await startFarChain('arbitrum');
  await far.placeToken('USDC', 6);
  await far.placeToken('WETH', 18);
  file = await writeFileOf('two.json', [paymentOf(0), paymentOf(1)]);
});

test('help, wrong arguments and faults are sentences without a stack, with exit codes', async () => {
  const help = await room.sweep(['--help']);
  expect([help.code, help.stderr]).toEqual([0, '']);
  expect(help.stdout).toContain('--gas-per-item');
  const rpc = ['--rpc', far.url];
  const wrong = [
    ['list', file, ...rpc, '--nonsense'],
    ['list', file],
    ['list', ...rpc],
    ['steal', file, ...rpc],
    ['list', file, ...rpc, '--token', 'USDC'],
    ['list', file, ...rpc, '--gas-per-item', 'much'],
  ];
  for (const args of wrong) {
    const { code, stdout, stderr } = await room.sweep(args);
    expect([code, stdout], args.join(' ')).toEqual([2, '']);
    expect(stderr).toMatch(/^[^\n]+ Run it with --help to see the options\.\n$/);
  }
  const nobody = await room.sweep(['list', file, '--rpc', 'http://127.0.0.1:1']);
  expect([nobody.code, nobody.stdout, linesOf(nobody.stderr).length]).toEqual([1, '', 1]);
  expect(nobody.stderr).toContain('HTTP request failed.');
  const missing = await room.sweep(['list', 'absent.json', ...rpc]);
  expect([missing.code, missing.stderr]).toEqual([1, 'absent.json cannot be read (ENOENT).\n']);
});

test('a file with a shortened tag is refused', async () => {
  const envelope = JSON.parse(await readFile(file, 'utf8'));
  const cipher = { ...envelope.cipher, tag: envelope.cipher.tag.slice(0, 8) };
  await writeFile(room.path('short.json'), JSON.stringify({ ...envelope, cipher }));
  const { code, stderr } = await room.sweep(['list', room.path('short.json'), '--rpc', far.url]);
  expect([code, stderr]).toEqual([1, 'The passphrase is wrong, or the file is damaged.\n']);
});

test('several tokens can be named, and one that is no contract is said to be none', async () => {
  const [one, other] = [
    await far.chain.deploy('TestToken', ['A', 'A', 0]),
    await far.chain.deploy('TestToken', ['B', 'B', 0]),
  ];
  await one.call('mint', [addressOf(0), 3n]);
  await other.call('mint', [addressOf(1), 4n]);
  const both = ['--token', one.address, '--token', other.address];
  const listed = await sweep('list', ...both);
  expect([listed.code, listed.stderr]).toEqual([0, '']);
  const expected = [
    `pay_0  ${addressOf(0)}  3 ${one.address}  to ${treasury}`,
    `pay_1  ${addressOf(1)}  4 ${other.address}  to ${treasury}`,
  ];
  expect(linesOf(listed.stdout)).toEqual(expected);
  const with0 = await sweep('list', '--token', accounts[2], ...both);
  expect([with0.code, with0.stderr]).toEqual([1, `${accounts[2]} is not a contract on this chain.\n`]);
  expect(linesOf(with0.stdout)).toEqual(expected);
});

test('what answers badly is named, and everything else is swept', async () => {
  const [refusing, half] = [
    await placeOdd(1001, '0x60006000fd'),
    // Answers 1 to every call, but refuses those about one address.
    await placeOdd(1002, `0x60043573${addressOf(0).slice(2)}14602657600160005260206000f35b60006000fd`),
  ];
  const strange = { ...paymentOf(2), id: 'pay_strange', treasury: accounts[2] };
  const mixed = await writeFileOf('mixed.json', [strange, paymentOf(0), paymentOf(1)]);
  await far.chain.payToken(far.token('USDC'), addressOf(0), 5_000_000n);
  const tokens = ['--token', refusing, '--token', half, '--token', far.token('WETH')];
  await far.chain.payToken(far.token('WETH'), addressOf(1), 10n ** 18n);
  const sent = await room.sweep(['send', mixed, '--rpc', far.url, ...tokens]);
  expect(sent.code).toBe(1);
  const errors = linesOf(sent.stderr);
  expect(errors[0]).toBe('pay_strange is skipped: its address does not follow from its treasury and salt.');
  expect(errors[1]).toMatch(new RegExp(`^${refusing}: 2 balances could not be read\\. `));
  expect(errors[2]).toMatch(new RegExp(`^${half}: 1 balances could not be read\\. `));
  expect(errors.slice(3)).toEqual(['What failed is still at its address: try again later.']);
  expect(linesOf(sent.stdout).map(line => line.replace(/ {2}0x[0-9a-f]{64}$/, ''))).toEqual([
    'pay_0  5 USDC',
    `pay_1  1 ${half}`,
    `pay_1  1000000000000000000 ${far.token('WETH')}`,
  ]);
  expect(await far.chain.tokenBalance(far.token('USDC'), treasury)).toBe(5_000_000n);
});

test('a payment without an event, and one whose transaction cannot be sent, are failures', async () => {
  // Holds 1 for whoever asks directly, and nothing for contracts.
  const shy = await placeOdd(1003, '0x33321460005260206000f3');
  const sent = await sweep('send', '--token', shy);
  expect([sent.code, sent.stdout]).toEqual([1, '']);
  expect(linesOf(sent.stderr)).toEqual([
    expect.stringMatching(new RegExp(`^pay_0  FAILED ${shy}  0x`)),
    expect.stringMatching(new RegExp(`^pay_1  FAILED ${shy}  0x`)),
    'What failed is still at its address: try again later.',
  ]);
  await far.chain.payToken(far.token('USDC'), addressOf(0), 1_000_000n);
  const poor = await room.sweep(['send', file, '--rpc', far.url], { RECOVERY_PRIVATE_KEY: `0x${'9'.repeat(64)}` });
  expect([poor.code, poor.stdout]).toEqual([1, '']);
  expect(poor.stderr).toMatch(/^pay_0 {2}FAILED USDC {2}\S[^\n]+\nWhat failed/);
});

test('fifty payments share a transaction, which never asks for more gas than the protocol allows', async () => {
  const many = Array.from({ length: 51 }, (_, at) => paymentOf(100 + at));
  const path = await writeFileOf('many.json', many);
  for (const { address } of many) await far.chain.mint(far.token('USDC'), address, 1n);
  const sent = await room.sweep(['send', path, '--rpc', far.url, '--gas-per-item', '345678']);
  expect([sent.code, sent.stderr]).toEqual([0, '']);
  const hashes = linesOf(sent.stdout).map(line => line.split('  ')[2]!);
  expect([hashes.length, new Set(hashes).size]).toEqual([51, 2]);
  const { input } = await far.node.request<{ input: string }>('eth_getTransactionByHash', hashes[0]);
  expect(BigInt(`0x${input.slice(10 + 3 * 64, 10 + 4 * 64)}`)).toBe(345_678n);

  // Uses up all gas that it is given for a transfer: half more than the estimate is 18 million.
  const { address: burning } = await far.chain.deploy('GasBurningToken');
  const burnt = await room.sweep(['send', path, '--rpc', far.url, '--token', burning, '--gas-per-item', '240000']);
  expect(burnt.code).toBe(1);
  const [, hash] = /FAILED \S+ {2}(0x[0-9a-f]{64})/.exec(burnt.stderr)!;
  const { gas } = await far.node.request<{ gas: string }>('eth_getTransactionByHash', hash);
  expect(BigInt(gas)).toBe(2n ** 24n);
});

test('the factory is deployed only when asked to, after its cost is printed, and never swept without', async () => {
  const bare = await startFarChain('arbitrum', 0, { factory: false });
  await bare.placeToken('USDC', 6);
  const args = ['send', file, '--rpc', bare.url];
  expect(await room.sweep(args)).toEqual({ code: 0, stdout: none, stderr: '' });
  await bare.chain.payToken(bare.token('USDC'), addressOf(0), 9_000_000n);
  const cost = String.raw`0\.01 ETH for the CREATE2 deployer and about 0\.00\d+ ETH for gas\.`;
  const refused = await room.sweep(args);
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(
    new RegExp(`^The factory is not on this chain\\. --deploy deploys it and pays ${cost}\n$`),
  );
  expect(await bare.node.request('eth_getTransactionCount', accounts[1])).toBe('0x0');
  const sent = await room.sweep([...args, '--deploy']);
  expect([sent.code, sent.stderr]).toEqual([0, '']);
  expect(sent.stdout).toMatch(new RegExp(`^Deploying the factory costs ${cost}\npay_0  9 USDC  0x\\w+\n$`));
  expect(await bare.chain.tokenBalance(bare.token('USDC'), treasury)).toBe(9_000_000n);
});

test('a deployment that does not bring the factory ends before anything is swept', async () => {
  const odd = await startFarChain('arbitrum', 0, { factory: false });
  await placeDeployer(odd.node);
  // Accepts every call and does nothing.
  await odd.node.request('hardhat_setCode', create2Deployer, '0x00');
  await odd.placeToken('USDC', 6);
  await odd.chain.payToken(odd.token('USDC'), addressOf(0), 9_000_000n);
  const sent = await room.sweep(['send', file, '--rpc', odd.url, '--deploy']);
  expect(sent.code).toBe(1);
  expect(sent.stderr).toBe(`The factory is not at ${forwarderFactory} after its deployment. Nothing was swept.\n`);
  expect(sent.stdout).toMatch(/^Deploying the factory costs about [^\n]+ for gas\.\n$/);
});
