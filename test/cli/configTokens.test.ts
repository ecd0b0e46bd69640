import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Config, ConfigError, loadConfig } from '../../src/cli/config.ts';
import { mainnets, testnets } from '../../src/core/registry/backings.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'florin-tokens-'));
});

const load = async (networks: object): Promise<Config> => {
  const cwd = await mkdtemp(join(root, 'start-'));
  await writeFile(join(cwd, 'florin.config.json'), JSON.stringify({ networks }));
  return loadConfig({ env: {}, cwd });
};
const problemsOf = async (networks: object): Promise<readonly string[]> => {
  const error = await load(networks).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).problems;
};

const rpcUrls = ['https://rpc.example/KEY'];
const veur = {
  symbol: 'VEUR',
  name: 'VNX Euro',
  decimals: 18,
  contractAddress: '0x6bA75D640bEbfe5dA1197bb5A2aff3327789b5d3',
};
const other = { ...veur, symbol: 'OTHER', contractAddress: '0xFFfFfFffFFfffFFfFFfFFFFFffFFFffffFfFFFfF' };
const { contractAddress: address, ...rest } = veur;

describe('tokens of the configuration file', () => {
  test('are taken as they are given, with amounts and tiers of their own', async () => {
    const rule = { kind: 'depth', depth: 12 };
    const ethereum = {
      rpcUrls,
      tokens: [veur, { ...other, decimals: 0 }],
      minAmounts: { VEUR: '0.000000000000000001', OTHER: '1' },
      tiers: [{ currency: 'VEUR', from: '10', rule }],
    };
    const { networks } = await load({ production: { ethereum } });
    expect(networks.production.ethereum).toMatchObject({
      minAmounts: ethereum.minAmounts,
      tiers: ethereum.tiers,
      tokens: [
        { ...rest, address },
        { symbol: 'OTHER', name: veur.name, decimals: 0, address: other.contractAddress },
      ],
    });
  });

  test('may fill what a test network lacks', async () => {
    const usdt = { ...veur, symbol: 'USDT', decimals: 6 };
    const bsc = { rpcUrls, tokens: [usdt], minAmounts: { USDT: '0.000001' } };
    const { networks } = await load({ sandbox: { bsc } });
    expect(networks.sandbox.bsc?.tokens).toEqual([{ ...rest, symbol: 'USDT', decimals: 6, address }]);
  });

  test('of production may be bounded in the sandbox, where the dev chain has them too', async () => {
    const base = { tokens: [{ ...veur, decimals: 2 }] };
    await load({ sandbox: { base: { minAmounts: { VEUR: '0.01' } } }, production: { base } });
    const [problem] = await problemsOf({ sandbox: { base: { minAmounts: { VEUR: '0.001' } } }, production: { base } });
    expect(problem).toMatch(/sandbox\.base\.minAmounts\.VEUR .*at most 2/);
  });

  const listed = mainnets.base.tokens[0]!.address;
  test.each<[string, unknown, RegExp]>([
    ['no list', veur, /tokens must be a list of at most 100$/],
    ['no object', [7], /tokens\[0\] must be an object$/],
    ['an unknown key', [{ ...veur, address }], /tokens\[0\] has the unknown key "address"; known: symbol, name, /],
    ['no symbol', [{ ...veur, symbol: undefined }], /tokens\[0\]\.symbol must be 1 to 16 /],
    ['a symbol in lower case', [{ ...veur, symbol: 'vEUR' }], /tokens\[0\]\.symbol must be 1 to 16 upper-case/],
    ['a symbol that is too long', [{ ...veur, symbol: 'V'.repeat(17) }], /tokens\[0\]\.symbol must be 1 to 16/],
    ['a listed symbol', [{ ...veur, symbol: 'USDC' }], /tokens\[0\]\.symbol is in use: .*USDC/],
    ['the native symbol', [{ ...veur, symbol: 'ETH' }], /tokens\[0\]\.symbol is in use: .*ETH/],
    ['one symbol twice', [veur, { ...other, symbol: 'VEUR' }], /tokens\[1\]\.symbol is in use/],
    ['an empty name', [{ ...veur, name: ' ' }], /tokens\[0\]\.name must be a text of 1 to 64/],
    ['a name that is too long', [{ ...veur, name: 'n'.repeat(65) }], /tokens\[0\]\.name must be a text of 1 to 64/],
    ['a name with a line break', [{ ...veur, name: 'a\nb' }], /tokens\[0\]\.name must be a text of 1 to 64/],
    ['no decimals', [{ ...veur, decimals: undefined }], /tokens\[0\]\.decimals must be a whole number from 0 to 24$/],
    ['decimals as text', [{ ...veur, decimals: '18' }], /tokens\[0\]\.decimals must be a whole/],
    ['a fraction of decimals', [{ ...veur, decimals: 1.5 }], /tokens\[0\]\.decimals must be a whole/],
    ['decimals below zero', [{ ...veur, decimals: -1 }], /tokens\[0\]\.decimals must be a whole/],
    ['too many decimals', [{ ...veur, decimals: 25 }], /tokens\[0\]\.decimals must be a whole/],
    ['no address', [rest], /tokens\[0\]\.contractAddress must be /],
    ['no checksum', [{ ...veur, contractAddress: address.toLowerCase() }], /contractAddress must be .*checksum/],
    ['a wrong checksum', [{ ...veur, contractAddress: address.replace('bA', 'Ba') }], /contractAddress must be/],
    ['the zero address', [{ ...veur, contractAddress: `0x${'0'.repeat(40)}` }], /contractAddress must be/],
    [
      'a listed contract',
      [{ ...veur, contractAddress: listed }],
      /tokens\[0\]\.contractAddress is already listed .*USDC/,
    ],
    [
      'one contract twice',
      [veur, { ...veur, symbol: 'AGAIN' }],
      /tokens\[1\]\.contractAddress is already listed .*VEUR/,
    ],
  ])('are refused: %s', async (_, tokens, problem) => {
    const problems = await problemsOf({ production: { base: { rpcUrls, tokens } } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^florin\.config\.json: networks\.production\.base\.tokens/);
    expect(problems[0]).toMatch(problem);
  });

  test('are refused in a sandbox that is on the local chain, and where its test network lists the symbol', async () => {
    expect(await problemsOf({ sandbox: { base: { tokens: [veur] } } })).toEqual([
      expect.stringMatching(/sandbox\.base\.tokens needs rpcUrls: .*local chain.*production/),
    ]);
    const taken = testnets.base.tokens[0]!.symbol;
    expect(await problemsOf({ sandbox: { base: { rpcUrls, tokens: [{ ...veur, symbol: taken }] } } })).toHaveLength(1);
  });
});
