// @module-tag thorough
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { create2DeployerSetup } from '../../src/chains/evm/deployments.ts';
import type { DeploymentStep } from '../../src/chains/evm/factory.ts';
import { forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { startRpcNode } from '../api/rpcNode.ts';
import type { EvmNode } from '../chains/evmNode.ts';
import { placeDeployer } from '../chains/placeFactory.ts';
import { type Ended, makeRoom, run, startServer } from './cliProcess.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let room: string;
const nodes: Record<string, EvmNode> = {};
let urls: { complete: string };
beforeAll(async () => {
  room = await makeRoom();
  const bare = await startRpcNode(1, { factory: false });
  const deployerOnly = await startRpcNode(8453, { factory: false });
  const [behind, other] = [await startRpcNode(137, { factory: false }), await startRpcNode(137, { factory: false })];
  const complete = await startRpcNode(10);
  Object.assign(nodes, { bare: bare.node, deployerOnly: deployerOnly.node });
  await placeDeployer(deployerOnly.node);
  await other.node.request('hardhat_setCode', forwarderFactory, '0x6001');
  const production = {
    ethereum: { rpcUrls: [bare.url] },
    base: { rpcUrls: [deployerOnly.url] },
    // The first node has no code there.
    polygon: { rpcUrls: [behind.url, other.url] },
    optimism: { rpcUrls: [complete.url] },
    // Serves chain 1.
    arbitrum: { rpcUrls: [bare.url] },
    // Nobody listens there.
    bsc: { rpcUrls: ['http://127.0.0.1:1'] },
  };
  await configure(room, production);
  urls = { complete: complete.url };
});

const florin = (...args: string[]): Promise<Ended> => run(args, room);
const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await florin(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};
type Checked = { environment: string; network: string; status: string; reason: string | null };
const checkIn = async (directory: string): Promise<{ code: number | null; rows: Checked[] }> => {
  const { code, stdout } = await run(['factory', 'check', '--json'], directory);
  const rows: Checked[] = JSON.parse(stdout);
  for (const row of rows) expect(Object.keys(row)).toEqual(['environment', 'network', 'status', 'reason']);
  return { code, rows };
};
const check = async (environment: string): Promise<Record<string, string>> => {
  const { code, rows } = await checkIn(room);
  expect(code, 'some networks lack it').toBe(1);
  return Object.fromEntries(rows.filter(row => row.environment === environment).map(row => [row.network, row.status]));
};
const configure = (directory: string, production: object) =>
  writeFile(join(directory, 'florin.config.json'), JSON.stringify({ networks: { production } }));
const deployment = (network: string) =>
  json('factory', 'deploy', '--environment', 'production', '--network', network) as Promise<{
    status: string;
    gas: string | null;
    transactions: DeploymentStep[];
  }>;

/** As an operator's own wallet sends them. */
const take = async (node: EvmNode, steps: readonly DeploymentStep[]): Promise<void> => {
  for (const step of steps) {
    if (step.kind === 'publish') await node.sendRaw(step.rawTransaction);
    else await node.must({ to: step.to, data: step.data, value: BigInt(step.value) });
  }
};

const unchecked = { arbitrum: 'not_checked', avalanche: 'not_checked', bsc: 'not_checked' };

describe('without a running server', () => {
  test('factory check against a chain without it, with different code, and with nodes that do not answer', async () => {
    expect(await check('production')).toEqual({
      ...unchecked,
      ethereum: 'absent',
      base: 'absent',
      polygon: 'different_code',
      optimism: 'present',
    });
    expect(Object.values(await check('sandbox'))).toEqual(Array(7).fill('not_checked'));
    const { stdout } = await florin('factory', 'check');
    expect(stdout).toMatch(/production +ethereum +ABSENT: run florin factory deploy/);
    expect(stdout).toMatch(/production +polygon +DIFFERENT CODE/);
  });

  test('the exit code is 1 unless every configured network has it, and entries say why they were not checked', async () => {
    const { rows } = await checkIn(room);
    const reasons = rows.filter(row => row.environment === 'production').map(row => [row.network, row.reason]);
    expect(Object.fromEntries(reasons)).toEqual({
      arbitrum: 'The node serves chain 1.',
      avalanche: 'No node is configured.',
      base: null,
      bsc: 'The node could not be reached.',
      ethereum: null,
      optimism: null,
      polygon: null,
    });
    const [empty, complete] = [await makeRoom(), await makeRoom()];
    await configure(complete, { optimism: { rpcUrls: [urls.complete] } });
    expect((await checkIn(empty)).code, 'nothing is configured').toBe(0);
    expect((await checkIn(complete)).code).toBe(0);
    await configure(complete, { optimism: { rpcUrls: [urls.complete] }, base: { rpcUrls: ['http://127.0.0.1:1'] } });
    expect((await checkIn(complete)).code).toBe(1);
    const { stdout } = await run(['factory', 'check'], complete);
    expect(stdout).toMatch(/production +base +not checked: The node could not be reached\./);
  });

  test('the deployment that it prints, sent by a wallet, makes the factory present', async () => {
    const { gas, transactions } = await deployment('base');
    expect(transactions).toMatchObject([{ purpose: 'deploy_factory', chainId: 8453, value: '0x0', link: null }]);
    expect(Number(gas)).toBeGreaterThan(700_000);
    await take(nodes.deployerOnly!, transactions);
    expect((await check('production')).base).toBe('present');
    expect(await deployment('base')).toMatchObject({ status: 'present', transactions: [] });
  });

  test('where the CREATE2 deployer is missing, its funding and creation come first', async () => {
    const { signer } = create2DeployerSetup;
    const first = await deployment('ethereum');
    expect(first.transactions).toMatchObject([
      { purpose: 'fund_deployer', to: signer, link: `ethereum:${signer}@1?value=10000000000000000` },
      { purpose: 'create_deployer', kind: 'publish' },
      { purpose: 'deploy_factory' },
    ]);
    const { stdout } = await florin('factory', 'deploy', '--environment', 'production', '--network', 'ethereum');
    expect(stdout).toContain('Florin signs nothing');
    for (const step of first.transactions) expect(stdout).toContain(step.kind === 'send' ? step.data : 'cast publish');
    await take(nodes.bare!, first.transactions.slice(0, 1));
    const rest = (await deployment('ethereum')).transactions;
    expect(rest.map(({ purpose }) => purpose)).toEqual(['create_deployer', 'deploy_factory']);
    await take(nodes.bare!, rest);
    expect((await check('production')).ethereum).toBe('present');
  });

  test('what cannot be deployed is refused', async () => {
    const refused = async (network: string, environment = 'production'): Promise<string> => {
      const { code, stdout, stderr } = await florin(
        'factory',
        'deploy',
        '--environment',
        environment,
        '--network',
        network,
      );
      expect([code, stdout], stderr).toEqual([1, '']);
      return stderr;
    };
    expect(await refused('polygon')).toContain('different code');
    expect(await refused('arbitrum')).toContain('No node of arbitrum answers for chain 42161');
    expect(await refused('avalanche')).toContain('networks.production.avalanche.rpcUrls');
    expect(await refused('base', 'sandbox')).toContain('local chain');
    expect((await florin('factory', 'deploy', '--network', 'base')).code).toBe(2);
  });
});

test('beside a running server, the local chain has it', async () => {
  await startServer(room);
  expect(Object.values(await check('sandbox'))).toEqual(Array(7).fill('present'));
});
