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
import { type DevToken, devChainDeployments } from '../../chains/evm/deployments.ts';

export const devChainId = 31_337;

export type RpcOutcome = { readonly result: unknown } | { readonly error: { code: number; message: string } };
export type Chain = { request(method: string, params: unknown): Promise<RpcOutcome> };

// Two confirmations complete a payment here, and three blocks more show that its confirmations keep counting.
const emptyBlocksAfterTransaction = 5;

// The first account of the development mnemonic every Ethereum tool knows. It is public, and worth nothing.
const payer = {
  address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  secretKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  balanceWei: 10n ** 27n,
} as const;

// Blocks up to the last deployment have fixed times, so that their hashes are the same on every machine and start.
const genesisTimeS = 1_735_689_600;

const submits = new Set(['eth_sendTransaction', 'eth_sendRawTransaction']);
const controls = new Set([
  'debug_traceTransaction',
  'evm_increaseTime',
  'evm_mine',
  'evm_revert',
  'evm_setNextBlockTimestamp',
  'evm_snapshot',
  'hardhat_mine',
  'hardhat_setBalance',
]);
const isOffered = (method: string): boolean => /^(eth|net|web3)_/.test(method) || controls.has(method);

/**
 * An EVM chain in memory. It mines a block for every transaction, a few empty ones after it, and then rests.
 * EDR's own mining is off: every block is made here, one at a time, where it can be recorded before anyone learns of it.
 */
export const createChain = async (tokens: readonly DevToken[], emptyBlockIntervalMs: number): Promise<Chain> => {
  const send = await openProvider(tokens);
  await deploy(send, tokens);
  await alignClock(send);

  let emptyBlocksLeft = 0;
  let emptyBlockTimer: NodeJS.Timeout | undefined;
  const scheduleEmptyBlock = (): void => {
    clearTimeout(emptyBlockTimer);
    if (emptyBlocksLeft === 0) return;
    emptyBlocksLeft -= 1;
    emptyBlockTimer = setTimeout(() => void inTurn(mineEmptyBlock), emptyBlockIntervalMs);
  };
  const mineEmptyBlock = async (): Promise<void> => {
    await succeed(send, 'evm_mine', []);
    scheduleEmptyBlock();
  };

  const perform = async (method: string, params: unknown): Promise<RpcOutcome> => {
    const outcome = await send(method, params);
    if ('error' in outcome) return outcome;
    if (submits.has(method)) {
      await succeed(send, 'evm_mine', []);
      emptyBlocksLeft = emptyBlocksAfterTransaction;
      scheduleEmptyBlock();
    }
    // EDR sets its clock back to the time of the snapshot.
    if (method === 'evm_revert') await alignClock(send);
    return outcome;
  };

  let lastTurn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = lastTurn.then(work);
    lastTurn = turn.catch(() => undefined);
    return turn;
  };

  return {
    request: async (method, params) => {
      if (!isOffered(method)) return { error: { code: -32601, message: 'This method is not offered.' } };
      if (submits.has(method) || controls.has(method)) return await inTurn(() => perform(method, params));
      return await send(method, params);
    },
  };
};

type Send = (method: string, params: unknown) => Promise<RpcOutcome>;

const openProvider = async (tokens: readonly DevToken[]): Promise<Send> => {
  const context = new EdrContext();
  await context.registerProviderFactory(L1_CHAIN_TYPE, l1ProviderFactory());
  const { create2Deployer } = devChainDeployments(tokens);
  const config: ProviderConfig = {
    // Without this a burst of transactions pushes the chain's clock ahead of the world's, a second for each.
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
  return async (method, params) => {
    const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const { data } = await provider.handleRequest(request);
    return typeof data === 'string' ? JSON.parse(data) : data;
  };
};

const addressBytes = (address: string): Buffer => Buffer.from(address.slice(2), 'hex');

const succeed = async (send: Send, method: string, params: unknown): Promise<unknown> => {
  const outcome = await send(method, params);
  if ('error' in outcome) throw new Error(`${method} failed: ${outcome.error.message}`);
  return outcome.result;
};

const deploy = async (send: Send, tokens: readonly DevToken[]): Promise<void> => {
  const { create2Deployer, transactions } = devChainDeployments(tokens);
  const submissions = [
    () => succeed(send, 'eth_sendRawTransaction', [create2Deployer.rawTransaction]),
    ...transactions.map(
      ({ to, data }) =>
        () =>
          succeed(send, 'eth_sendTransaction', [{ from: payer.address, to, data }]),
    ),
  ];
  let timeS = genesisTimeS;
  for (const submit of submissions) {
    const hash = await submit();
    timeS += 1;
    await succeed(send, 'evm_mine', [timeS]);
    const receipt = await succeed(send, 'eth_getTransactionReceipt', [hash]);
    if ((receipt as { status: string } | null)?.status !== '0x1')
      throw new Error('a deployment of the dev chain failed');
  }
};

const alignClock = async (send: Send): Promise<void> => {
  const latest = (await succeed(send, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  const nowS = Math.floor(Date.now() / 1000);
  await succeed(send, 'evm_setNextBlockTimestamp', [Math.max(nowS, Number(latest.timestamp))]);
};
