import { createHash } from 'node:crypto';
import { type Abi, type Address, decodeEventLog, encodeFunctionData, type Hex, keccak256, toHex } from 'viem';
import factoryArtefact from '../../contracts/artefacts/ForwarderFactory.json' with { type: 'json' };
import tokenArtefact from '../../contracts/artefacts/TestToken.json' with { type: 'json' };
import { devChainDeployments } from '../../src/chains/evm/deployments.ts';
import { deriveForwarder, forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { accounts, type Receipt, startEvmNode } from './evmNode.ts';
import { placeDeployer } from './placeFactory.ts';
import { testContracts } from './testContracts.ts';

export const factoryAbi = factoryArtefact.abi as Abi;
export const tokenAbi = tokenArtefact.abi as Abi;
export const native = '0x0000000000000000000000000000000000000000';

export const devTokens = [
  { slug: 'ethereum', symbol: 'USDC', name: 'USD Coin', decimals: 6 },
  { slug: 'ethereum', symbol: 'USDT', name: 'Tether USD', decimals: 6 },
  { slug: 'bsc', symbol: 'USDT', name: 'A name longer than thirty-two bytes, to be padded', decimals: 18 },
];

export const saltOf = (n: number): Uint8Array => createHash('sha256').update(`salt ${n}`).digest();

type SweepLog = { readonly name: string; readonly forwarder: Address; readonly amount: bigint | undefined };

/** The factory's logs in a receipt, without other logs. */
export const sweepLogs = (receipt: Receipt): SweepLog[] =>
  receipt.logs
    .filter(log => log.address.toLowerCase() === forwarderFactory.toLowerCase())
    .map(log => {
      const { eventName, args } = decodeEventLog({ abi: factoryAbi, topics: log.topics, data: log.data });
      const { forwarder, amount } = args as unknown as { forwarder: Address; amount?: bigint };
      return { name: eventName!, forwarder, amount };
    });

/** A chain with everything of `devChainDeployments` on it, and short names for what the tests do there. */
export const startForwarderScene = async (hardfork?: string) => {
  const node = await startEvmNode(hardfork);
  const deployments = devChainDeployments(devTokens);
  await placeDeployer(node);
  for (const transaction of deployments.transactions) await node.must(transaction);

  const sweepCall = (treasury: string, token: string, salts: readonly Uint8Array[], gasPerItem = 200_000n) => ({
    to: forwarderFactory,
    data: encodeFunctionData({
      abi: factoryAbi,
      functionName: 'sweep',
      args: [treasury, token, salts.map(salt => toHex(salt)), gasPerItem],
    }),
  });
  return {
    node,
    deployments,
    usdc: deployments.tokenAddress('ethereum', 'USDC'),
    usdt: deployments.tokenAddress('ethereum', 'USDT'),
    sweepCall,
    sweep: (treasury: string, token: string, salts: readonly Uint8Array[], gasPerItem?: bigint) =>
      node.must(sweepCall(treasury, token, salts, gasPerItem), accounts[1]),
    mint: (token: string, to: string, amount: bigint) =>
      node.must({ to: token, data: encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [to, amount] }) }),
    tokenBalance: async (token: string, holder: string) =>
      (await node.read(tokenAbi, token, 'balanceOf', [holder])) as bigint,
    deployHostile: (contract: string, args: readonly unknown[] = []) => {
      const artefact = testContracts.get(contract)!;
      return node.deploy(artefact.abi as Abi, artefact.creationCode as Hex, args);
    },
    hostileAbi: (contract: string) => testContracts.get(contract)!.abi as Abi,
  };
};

export type ForwarderScene = Awaited<ReturnType<typeof startForwarderScene>>;

/** A treasury nobody has touched before, so that balances can be checked exactly. */
export const freshTreasury = (name: string): Address => `0x${keccak256(toHex(name)).slice(26)}`;

export const forwardersOf = (treasury: string, salts: readonly Uint8Array[]): string[] =>
  salts.map(salt => deriveForwarder({ treasury, salt }));
