import { type Command, Option } from 'commander';
import { estimateGas } from '../chains/evm/estimateGas.ts';
import { type DeploymentStep, deploymentSteps, findFactory } from '../chains/evm/factory.ts';
import { forwarderFactory } from '../chains/evm/forwarder.ts';
import { type Environment, environments } from '../core/environment.ts';
import { FlorinError } from '../core/errors.ts';
import { slugs } from '../core/registry/backings.ts';
import type { Network } from '../core/registry/networks.ts';
import { type Common, common } from './commands.ts';
import { networksOf } from './compose.ts';
import { loadConfig } from './config.ts';
import { findLocalRpcUrl } from './localRpcUrl.ts';

/** Needs the configuration and the nodes only, so it works with and without a running server. */
const configuredNetworks = async ({ dataDir }: Common): Promise<Network[]> => {
  const config = await loadConfig({ flags: { dataDir } });
  return networksOf(config, await findLocalRpcUrl(config.dataDir));
};

type Checked = {
  readonly environment: Environment;
  readonly network: string;
  readonly status: string;
  /** Why it was not checked; null if it was. */
  readonly reason: string | null;
};

/** Each chain is asked once, however many networks it backs. */
const checkAll = async (networks: readonly Network[]): Promise<Checked[]> => {
  const chains = Map.groupBy(networks, network => `${network.caip2} ${network.rpcUrls.join(' ')}`);
  const answers = [...chains.values()].map(async group => {
    const [{ rpcUrls, chainId }] = group as [Network];
    const { found, reason } = await findFactory(rpcUrls, chainId);
    const answer = { status: found?.state ?? 'not_checked', reason };
    return group.map(network => [network, answer] as const);
  });
  const found = new Map((await Promise.all(answers)).flat());
  return networks.map(network => ({
    environment: network.environment,
    network: network.slug,
    ...found.get(network)!,
  }));
};

const meanings: Readonly<Record<string, string>> = {
  present: 'present',
  absent: 'ABSENT: run florin factory deploy',
  different_code: 'DIFFERENT CODE: do not use this network; ask another node',
};

const checkedLine = ({ environment, network, status, reason }: Checked): string =>
  `${environment.padEnd(10)}  ${network.padEnd(10)}  ${meanings[status] ?? `not checked: ${reason}`}`;

const check = async (options: Common): Promise<void> => {
  const networks = await configuredNetworks(options);
  const checked = await checkAll(networks);
  console.log(options.json ? JSON.stringify(checked) : checked.map(checkedLine).join('\n'));
  // For scripts that deploy. A network without nodes is not used, so it lacks nothing.
  if (checked.some(({ status }, at) => status !== 'present' && networks[at]!.rpcUrls.length > 0)) process.exitCode = 1;
};

const networkOf = (networks: readonly Network[], environment: Environment, slug: string): Network => {
  const network = networks.find(each => each.environment === environment && each.slug === slug)!;
  if (network.rpcUrls.length > 0) return network;
  throw new FlorinError(
    'network_unavailable',
    network.backing === 'devchain'
      ? `${slug} in the sandbox is on the local chain, which has the factory from its first block on.`
      : `No node is configured for ${slug}. Add networks.${environment}.${slug}.rpcUrls to florin.config.json.`,
  );
};

const stepText = (step: DeploymentStep, at: number): string => {
  if (step.kind === 'publish') {
    return [
      `${at + 1}. Publish the transaction that creates the CREATE2 deployer. It is signed already, for every chain.`,
      '   The node must accept transactions without a chain id (EIP-155); many public nodes do not.',
      `   cast publish --rpc-url YOUR_NODE ${step.rawTransaction}`,
    ].join('\n');
  }
  const what =
    step.purpose === 'fund_deployer'
      ? 'Pay for the creation of the CREATE2 deployer.'
      : 'Deploy the forwarder factory, from any account that can pay the gas.';
  return [
    `${at + 1}. ${what}`,
    `   chain  ${step.chainId}`,
    `   to     ${step.to}`,
    `   value  ${BigInt(step.value)} wei`,
    `   data   ${step.data}`,
    ...(step.link === null ? [] : [`   link   ${step.link}`]),
  ].join('\n');
};

const wallets = `How to send a transaction with data:
   cast (Foundry)  cast send --rpc-url YOUR_NODE --value VALUE TO DATA, with --ledger, --trezor or --account
   Safe            Transaction Builder, "Custom data": the address, value and data above
   MetaMask        switch on "Show hex data" in the advanced settings, then send to the address above
Florin signs nothing. Then run: florin factory check`;

const deployText = (network: Network, gas: string | null, steps: readonly DeploymentStep[]): string =>
  [
    `The forwarder factory is not on ${network.slug} (chain ${network.chainId}) yet. Its address will be ${forwarderFactory}.`,
    ...(gas === null ? [] : [`The deployment takes about ${gas} gas.`]),
    ...steps.map(stepText),
    wallets,
  ].join('\n\n');

type DeployOptions = Common & { environment: Environment; network: string };

const deploy = async (options: DeployOptions): Promise<void> => {
  const network = networkOf(await configuredNetworks(options), options.environment, options.network);
  const { environment, slug, chainId, rpcUrls } = network;
  const { found, reason } = await findFactory(rpcUrls, chainId);
  if (found === null) {
    throw new FlorinError(
      'network_unavailable',
      `No node of ${slug} answers for chain ${chainId}. ${reason} Check its rpcUrls.`,
    );
  }
  const { state: status } = found;
  if (status === 'different_code') {
    throw new FlorinError(
      'conflict',
      `${forwarderFactory} on ${slug} has different code. Nothing can be deployed there.`,
    );
  }
  const transactions = deploymentSteps(chainId, found);
  const last = transactions.at(-1);
  const estimate =
    found.hasDeployer && last?.kind === 'send' ? await estimateGas(rpcUrls, { to: last.to, data: last.data }) : null;
  const gas = estimate?.units.toString() ?? null;
  if (options.json) {
    const answer = { environment, network: slug, chainId, factory: forwarderFactory, status, gas, transactions };
    console.log(JSON.stringify(answer));
  } else if (status === 'present') console.log(`The forwarder factory is on ${slug}, at ${forwarderFactory}.`);
  else console.log(deployText(network, gas, transactions));
};

export const addFactoryCommands = (program: Command): void => {
  const factory = program
    .command('factory')
    .description('Check and deploy the contract that sweeps forwarder addresses.');
  common(factory.command('check').description('Show on which networks the factory is, judged by its code.')).action(
    check,
  );
  common(factory.command('deploy').description('Print the unsigned transactions that deploy the factory.'))
    .addOption(new Option('--environment <environment>', 'Environment.').choices(environments).makeOptionMandatory())
    .addOption(new Option('--network <slug>', 'Network.').choices(slugs).makeOptionMandatory())
    .action(deploy);
};
