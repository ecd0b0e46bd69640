import {
  ContractDecoder,
  EdrContext,
  L1_CHAIN_TYPE,
  l1GenesisState,
  l1HardforkFromString,
  l1ProviderFactory,
  MineOrdering,
  PRAGUE,
} from '@nomicfoundation/edr';
import { type Abi, type Address, decodeFunctionResult, encodeDeployData, encodeFunctionData, type Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { RpcOutcome } from '../../src/local/devchain/provider.ts';

export type Receipt = {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly contractAddress: Address | null;
  readonly logs: readonly { readonly address: Address; readonly topics: [Hex, ...Hex[]]; readonly data: Hex }[];
};

type Call = { readonly to: string; readonly data?: string; readonly value?: bigint; readonly gas?: bigint };

const secretKeys = [1, 2, 3].map((n): Hex => `0x${n.toString(16).padStart(64, '0')}`);
/** Funded accounts of the node: the payer, and strangers who try things. */
export const accounts = secretKeys.map(privateKeyToAddress) as [Address, Address, Address];

// EDR allows one context per process.
const context = new EdrContext();
await context.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory());

const hex = (value: bigint): Hex => `0x${value.toString(16)}`;

/** A real EVM in this process. Every transaction is mined at once into a block of its own. Its clock may be behind. */
export const startEvmNode = async (hardfork = PRAGUE, chainId = 31_337n, behindSeconds = 0) => {
  const funded = accounts.map(account => ({ address: Buffer.from(account.slice(2), 'hex'), balance: 10n ** 24n }));
  const provider = await context.createProvider(
    L1_CHAIN_TYPE,
    {
      allowBlocksWithSameTimestamp: true,
      allowUnlimitedContractSize: false,
      bailOnCallFailure: false,
      bailOnTransactionFailure: false,
      blockGasLimit: 60_000_000n,
      chainId,
      coinbase: Buffer.alloc(20, 0xcb),
      genesisState: [...l1GenesisState(l1HardforkFromString(hardfork)), ...funded],
      hardfork,
      initialBaseFeePerGas: 1_000_000_000n,
      ...(behindSeconds > 0 ? { initialDate: BigInt(Math.floor(Date.now() / 1000) - behindSeconds) } : {}),
      initialBlobGas: { gasUsed: 0n, excessGas: 0n },
      initialParentBeaconBlockRoot: Buffer.alloc(32),
      minGasPrice: 0n,
      mining: { autoMine: true, memPool: { order: MineOrdering.Fifo } },
      networkId: chainId,
      observability: {},
      ownedAccounts: secretKeys,
      precompileOverrides: [],
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new ContractDecoder(),
  );

  const answer = async (method: string, params: unknown): Promise<RpcOutcome> => {
    const { data } = await provider.handleRequest(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    return typeof data === 'string' ? JSON.parse(data) : data;
  };
  const request = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const outcome = await answer(method, params);
    if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`);
    return outcome.result as T;
  };
  const receiptOf = (hash: Hex): Promise<Receipt> => request('eth_getTransactionReceipt', hash);
  const send = async ({ to, data = '0x', value = 0n, gas = 15_000_000n }: Call, from = accounts[0]): Promise<Receipt> =>
    receiptOf(await request('eth_sendTransaction', { from, to, data, value: hex(value), gas: hex(gas) }));
  const must = async (call: Call, from = accounts[0]): Promise<Receipt> => {
    const receipt = await send(call, from);
    if (receipt.status !== '0x1') throw new Error(`reverted: ${JSON.stringify(call, (_, v) => `${v}`)}`);
    return receipt;
  };
  const deploy = async (abi: Abi, bytecode: Hex, args: readonly unknown[] = []): Promise<Address> => {
    const data = encodeDeployData({ abi, bytecode, args });
    const hash = await request<Hex>('eth_sendTransaction', { from: accounts[0], data, gas: hex(15_000_000n) });
    return (await receiptOf(hash)).contractAddress!;
  };
  const read = async (abi: Abi, to: string, functionName: string, args: readonly unknown[] = []): Promise<unknown> => {
    const data = encodeFunctionData({ abi, functionName, args });
    return decodeFunctionResult({ abi, functionName, args, data: await request('eth_call', { to, data }, 'latest') });
  };
  return {
    answer,
    request,
    receiptOf,
    send,
    must,
    deploy,
    read,
    sendRaw: async (raw: string): Promise<Receipt> => receiptOf(await request('eth_sendRawTransaction', raw)),
    balance: async (address: string): Promise<bigint> =>
      BigInt(await request<Hex>('eth_getBalance', address, 'latest')),
    code: (address: string): Promise<Hex> => request('eth_getCode', address, 'latest'),
  };
};

export type EvmNode = Awaited<ReturnType<typeof startEvmNode>>;
