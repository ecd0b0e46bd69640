import type { FactoryState } from '../../core/chain.ts';
import { create2DeployerSetup, factoryDeployment } from './deployments.ts';
import { create2Deployer, forwarderFactory } from './forwarder.ts';
import { keccak256Hex } from './keccak.ts';
import { createNode } from './node.ts';
import { evmPaymentUri } from './paymentUri.ts';
import { readBytes, readNumber, readQuantity } from './reading.ts';
import { type RpcCall, RpcFault } from './rpc.ts';

/**
 * keccak-256 of the factory's runtime code, with its immutable values filled in. They depend only on its address, so
 * the code is the same on every network.
 */
export const factoryCodeHash = '0x970b17bda00e23c53061402575a57ee244b6c87426429786abccda4811e3fcd7';

export const codeCall = (address: string, tag: string): RpcCall => ({ method: 'eth_getCode', params: [address, tag] });

/** Judges the answer to `eth_getCode`. */
export const judgeFactory = (answer: unknown): FactoryState => {
  const code = readBytes(answer, 'the code of a contract');
  if (code.length === 0) return 'absent';
  return `0x${keccak256Hex(code)}` === factoryCodeHash ? 'present' : 'different_code';
};

/** What a chain has of the factory and of the contract that deploys it. */
export type FoundFactory = {
  readonly state: FactoryState;
  readonly hasDeployer: boolean;
  /** Balance of the account that pays for the deployer's own creation. */
  readonly deployerFunds: bigint;
};

const timeoutMs = 5_000;

const askNode = async (url: string, chainId: number): Promise<FoundFactory> => {
  const calls: RpcCall[] = [
    { method: 'eth_chainId', params: [] },
    codeCall(forwarderFactory, 'latest'),
    codeCall(create2Deployer, 'latest'),
    { method: 'eth_getBalance', params: [create2DeployerSetup.signer, 'latest'] },
  ];
  const node = createNode(url, 0, { timeoutMs }, () => 0);
  const [chain, factory, deployer, funds] = await node.callMany(calls, new AbortController().signal);
  const served = readNumber(chain, 'its chain id');
  if (served !== chainId) throw new RpcFault('malformed', undefined, `The node serves chain ${served}.`);
  return {
    state: judgeFactory(factory),
    hasDeployer: readBytes(deployer, 'the code of a contract').length > 0,
    deployerFunds: readQuantity(funds, 'a balance'),
  };
};

/** Never the node's own words, which may be anything. */
const reasonOf = ({ kind, code, message }: RpcFault): string => {
  if (kind === 'refused') return `The node refused the question with code ${code}.`;
  return kind === 'status' ? `The node answered with HTTP status ${code}.` : message;
};

/**
 * Whether the first answer counts for more. A node may lag behind the deployment, so one that has the factory is
 * believed. Different code is a reason to stop, so it counts for more than no code.
 */
export const outranks = (first: FactoryState, second: FactoryState): boolean => {
  const ranks: readonly FactoryState[] = ['absent', 'different_code', 'present'];
  return ranks.indexOf(first) > ranks.indexOf(second);
};

/** Asks all nodes of a chain. Nothing is found if none of them answers for this chain; `reason` says why. */
export const findFactory = async (
  rpcUrls: readonly string[],
  chainId: number,
): Promise<{ readonly found: FoundFactory | null; readonly reason: string | null }> => {
  const answers = await Promise.all(
    rpcUrls.map(url =>
      askNode(url, chainId).catch((error: unknown) => {
        if (error instanceof RpcFault) return reasonOf(error);
        throw error;
      }),
    ),
  );
  const found = answers
    .filter(answer => typeof answer !== 'string')
    .reduce<FoundFactory | null>((best, each) => (best && !outranks(each.state, best.state) ? best : each), null);
  if (found) return { found, reason: null };
  return { found, reason: answers.length === 0 ? 'No node is configured.' : [...new Set(answers)].join(' ') };
};

/** A step of a deployment. Anybody can take it, with any wallet. */
export type DeploymentStep =
  | {
      readonly kind: 'send';
      readonly purpose: 'fund_deployer' | 'deploy_factory';
      readonly chainId: number;
      readonly to: string;
      readonly value: string;
      readonly data: string;
      /** EIP-681. Null if the transaction has data, which such a link cannot carry. */
      readonly link: string | null;
    }
  | {
      readonly kind: 'publish';
      readonly purpose: 'create_deployer';
      readonly chainId: number;
      /** Signed for every chain. Nobody has its key. */
      readonly rawTransaction: string;
    };

const quantity = (value: bigint): string => `0x${value.toString(16)}`;

/** What is left to do, in order, until the factory is there. Empty if it is. */
export const deploymentSteps = (chainId: number, found: FoundFactory): DeploymentStep[] => {
  if (found.state !== 'absent') return [];
  const steps: DeploymentStep[] = [];
  const { signer: to, fundingWei, rawTransaction } = create2DeployerSetup;
  if (!found.hasDeployer) {
    const missing = fundingWei - found.deployerFunds;
    if (missing > 0n) {
      const link = evmPaymentUri({ chainId, contract: null, address: to, amount: missing });
      steps.push({ kind: 'send', purpose: 'fund_deployer', chainId, to, value: quantity(missing), data: '0x', link });
    }
    steps.push({ kind: 'publish', purpose: 'create_deployer', chainId, rawTransaction });
  }
  const { to: deployer, data } = factoryDeployment;
  return [...steps, { kind: 'send', purpose: 'deploy_factory', chainId, to: deployer, value: '0x0', data, link: null }];
};
