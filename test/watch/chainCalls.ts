import {
  type Abi,
  type Address,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  toHex,
} from 'viem';
import factoryArtefact from '../../contracts/artefacts/ForwarderFactory.json' with { type: 'json' };
import tokenArtefact from '../../contracts/artefacts/TestToken.json' with { type: 'json' };
import { forwarderFactory } from '../../src/chains/evm/forwarder.ts';
import { testContracts } from '../chains/testContracts.ts';

export type Request = <T>(method: string, ...params: unknown[]) => Promise<T>;

export type Receipt = {
  readonly status: Hex;
  readonly transactionHash: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly gasUsed: Hex;
  readonly contractAddress: Address | null;
};

export type ChainBlock = { readonly number: number; readonly hash: string; readonly timestamp: number };

export type Contract = {
  readonly address: Address;
  /** A transaction that calls it, mined at once. The caller checks whether it succeeds. */
  try(functionName: string, args: readonly unknown[], value?: bigint): Promise<Receipt>;
  /** The same, but it must succeed. */
  call(functionName: string, args: readonly unknown[], value?: bigint): Promise<Receipt>;
  read(functionName: string, args?: readonly unknown[]): Promise<unknown>;
};

export type ChainCalls = {
  readonly request: Request;
  /** From the account that has all the money. */
  send(call: { to?: string; data?: string; value?: bigint }): Promise<Receipt>;
  /** Test tokens are minted as they are needed. */
  payToken(token: string, to: string, amount: bigint): Promise<Receipt>;
  payCoin(to: string, amount: bigint): Promise<Receipt>;
  mint(token: string, to: string, amount: bigint): Promise<Receipt>;
  /** A contract of contracts/test, or `TestToken`. */
  deploy(name: string, args?: readonly unknown[]): Promise<Contract>;
  at(name: string, address: string): Contract;
  /** Sweeps forwarders of one treasury; the zero address stands for native coin. */
  sweep(treasury: string, token: string, salts: readonly Uint8Array[]): Promise<Receipt>;
  mine(blocks?: number): Promise<void>;
  head(): Promise<ChainBlock>;
  snapshot(): Promise<string>;
  revert(snapshot: string): Promise<void>;
  tokenBalance(token: string, holder: string): Promise<bigint>;
  coinBalance(holder: string): Promise<bigint>;
};

export const noToken = '0x0000000000000000000000000000000000000000';

const hex = (value: bigint): Hex => `0x${value.toString(16)}`;
const gas = hex(25_000_000n);

const artefactOf = (name: string): { readonly abi: Abi; readonly creationCode: Hex; readonly runtimeCode: Hex } => {
  if (name === 'TestToken') return tokenArtefact as unknown as ReturnType<typeof artefactOf>;
  return testContracts.get(name) as unknown as ReturnType<typeof artefactOf>;
};

export const runtimeCodeOf = (name: string): Hex => artefactOf(name).runtimeCode;

/** What tests do on any chain. Every transaction is mined at once, into its own block. */
export const createChainCalls = (request: Request): ChainCalls => {
  const account = async (): Promise<Address> => (await request<[Address]>('eth_accounts'))[0];
  const send: ChainCalls['send'] = async ({ to, data = '0x', value = 0n }) => {
    const from = await account();
    const hash = await request('eth_sendTransaction', { from, to, data, value: hex(value), gas });
    return request('eth_getTransactionReceipt', hash);
  };
  const must = async (sending: Promise<Receipt>): Promise<Receipt> => {
    const receipt = await sending;
    if (receipt.status !== '0x1') throw new Error(`the transaction ${receipt.transactionHash} failed`);
    return receipt;
  };
  const contract = (abi: Abi, address: Address): Contract => {
    const attempt: Contract['try'] = (functionName, args, value = 0n) =>
      send({ to: address, data: encodeFunctionData({ abi, functionName, args }), value });
    return {
      address,
      try: attempt,
      call: (functionName, args, value) => must(attempt(functionName, args, value)),
      read: async (functionName, args = []) => {
        const data = encodeFunctionData({ abi, functionName, args });
        const answer = await request<Hex>('eth_call', { to: address, data }, 'latest');
        return decodeFunctionResult({ abi, functionName, args, data: answer });
      },
    };
  };
  const at: ChainCalls['at'] = (name, address) => contract(artefactOf(name).abi, address as Address);
  const token = (address: string) => at('TestToken', address);
  const tokenBalance: ChainCalls['tokenBalance'] = async (address, holder) =>
    (await token(address).read('balanceOf', [holder])) as bigint;
  return {
    request,
    send,
    at,
    tokenBalance,
    async payToken(address, to, amount) {
      const from = await account();
      if ((await tokenBalance(address, from)) < amount) await token(address).call('mint', [from, amount * 1000n]);
      return token(address).call('transfer', [to, amount]);
    },
    payCoin: (to, amount) => must(send({ to, value: amount })),
    mint: (address, to, amount) => token(address).call('mint', [to, amount]),
    async deploy(name, args = []) {
      const { abi, creationCode: bytecode } = artefactOf(name);
      const { contractAddress } = await must(send({ data: encodeDeployData({ abi, bytecode, args }) }));
      return contract(abi, getAddress(contractAddress!));
    },
    sweep: (treasury, swept, salts) =>
      contract(factoryArtefact.abi as Abi, forwarderFactory as Address).call('sweep', [
        treasury,
        swept,
        salts.map(salt => toHex(salt)),
        200_000n,
      ]),
    async mine(blocks = 1) {
      for (let mined = 0; mined < blocks; mined++) await request('evm_mine');
    },
    async head() {
      const block = await request<Record<keyof ChainBlock, Hex>>('eth_getBlockByNumber', 'latest', false);
      return { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) };
    },
    snapshot: () => request('evm_snapshot'),
    async revert(snapshot) {
      if (!(await request('evm_revert', snapshot))) throw new Error('there is no such snapshot');
    },
    coinBalance: async holder => BigInt(await request<Hex>('eth_getBalance', holder, 'latest')),
  };
};
