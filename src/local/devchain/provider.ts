import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1ProviderFactory,
  MineOrdering,
  PRAGUE,
  type ProviderConfig,
  SpecId,
} from '@nomicfoundation/edr';
import { devChainDeployments } from '../../chains/evm/deployments.ts';
import { keccak256 } from '../../chains/evm/keccak.ts';

export const devChainId = 31_337;

export type RpcOutcome = { readonly result: unknown } | { readonly error: { code: number; message: string } };
// The first account of the development mnemonic that every Ethereum tool knows. Its key is public.
export const payer = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  secretKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  balanceWei: 10n ** 27n,
} as const;

// Blocks up to the last deployment have fixed times, so that chains of one identity begin with the same blocks.
const genesisTimeS = 1_735_689_600;

export type Send = (method: string, params: unknown) => Promise<RpcOutcome>;

export type Provider = {
  /** Returns JSON text: an answer may be large, and most are only forwarded. */
  readonly ask: (method: string, params: unknown) => Promise<string>;
  readonly send: Send;
};

/** An account without a known key. Its balance changes the hash of the first block and so of all blocks after it. */
const identityAccount = (identity: string) => ({
  address: Buffer.from(keccak256(Buffer.from(identity, 'utf8'))).subarray(12),
  balance: 1n,
});

/** An EVM in this process that never mines by itself. Chains of different identity have no block in common. */
export const openProvider = async (identity: string | null = null): Promise<Provider> => {
  const context = new EdrContext();
  await context.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory());
  const { create2Deployer } = devChainDeployments([]);
  const config: ProviderConfig = {
    // Without this, each transaction of a burst would push the chain's clock a second further ahead of real time.
    allowBlocksWithSameTimestamp: true,
    allowUnlimitedContractSize: false,
    bailOnCallFailure: true,
    bailOnTransactionFailure: false,
    blockGasLimit: 30_000_000n,
    chainId: BigInt(devChainId),
    coinbase: Buffer.alloc(20),
    genesisState: [
      ...l1GenesisState(SpecId.Prague),
      { address: addressBytes(payer.address), balance: payer.balanceWei },
      { address: addressBytes(create2Deployer.signer), balance: create2Deployer.fundingWei },
      ...(identity === null ? [] : [identityAccount(identity)]),
    ],
    hardfork: PRAGUE,
    initialBaseFeePerGas: 1_000_000_000n,
    initialBlobGas: { gasUsed: 0n, excessGas: 0n },
    initialDate: BigInt(genesisTimeS),
    initialParentBeaconBlockRoot: Buffer.alloc(32),
    minGasPrice: 0n,
    mining: { autoMine: false, memPool: { order: MineOrdering.Fifo } },
    networkId: BigInt(devChainId),
    observability: {},
    ownedAccounts: [payer.secretKey],
    precompileOverrides: [],
  };
  const provider = await context.createProvider(
    L1_CHAIN_TYPE,
    config,
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new ContractDecoder(),
  );
  const ask: Provider['ask'] = async (method, params) => {
    const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const { data } = await provider.handleRequest(request);
    return typeof data === 'string' ? data : JSON.stringify(data);
  };
  return { ask, send: async (method, params) => JSON.parse(await ask(method, params)) };
};

const addressBytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');

export const sendOrThrow = async (send: Send, method: string, params: unknown): Promise<unknown> => {
  const outcome = await send(method, params);
  if ('error' in outcome) throw new Error(`${method} failed: ${outcome.error.message}`);
  return outcome.result;
};
