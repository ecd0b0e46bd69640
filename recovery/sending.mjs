import {
  createWalletClient,
  encodeFunctionData,
  formatUnits,
  getAddress,
  keccak256,
  parseAbi,
  parseEventLogs,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { Fault, sentenceOf } from './faults.mjs';
import { amountText, chunks, codeAt } from './holdings.mjs';

const abi = parseAbi([
  'function sweep(address treasury, address token, bytes32[] salts, uint256 gasPerItem) returns (uint256[])',
  'event Forwarded(address indexed forwarder, address indexed token, uint256 amount)',
]);
/** About 2.7 million gas with new forwarders. It leaves room for tokens that need several times as much. */
const paymentsInSweep = 50;
/** EIP-7825: a transaction with more is refused. */
const mostGas = 2n ** 24n;

/** Transactions for payments that hold one token: up to fifty of one treasury each. */
export const sweepsOf = (factory, token, gasPerItem, holdings) =>
  [...Map.groupBy(holdings, ({ payment }) => payment.treasury)].flatMap(([treasury, group]) =>
    chunks(group, paymentsInSweep).map(some => {
      const args = [treasury, token, some.map(({ payment }) => payment.salt), gasPerItem];
      const data = encodeFunctionData({ abi, functionName: 'sweep', args });
      return { to: factory.address, value: 0n, data, payments: some.map(({ payment }) => payment) };
    }),
  );

/** What makes the factory exist on this chain; empty if it does. */
export const deploymentOf = async (client, { address, codeHash, deployment, deployer }) => {
  const code = await codeAt(client, address);
  if (code !== null) {
    if (keccak256(code) === codeHash) return [];
    throw new Fault(`The contract at ${address} is not the factory. Use another node.`);
  }
  const steps = [{ ...deployment, value: 0n }];
  if ((await codeAt(client, deployer.address)) !== null) return steps;
  const missing = BigInt(deployer.fundingWei) - (await client.getBalance({ address: deployer.signer }));
  steps.unshift({ rawTransaction: deployer.rawTransaction });
  if (missing > 0n) steps.unshift({ to: deployer.signer, value: missing, data: '0x' });
  return steps;
};

export const senderOf = (transport, chainId) => {
  const key = process.env.RECOVERY_PRIVATE_KEY;
  if (!/^(0x)?[0-9a-f]{64}$/i.test(key ?? ''))
    throw new Fault('Set RECOVERY_PRIVATE_KEY to the key that pays the gas.', 2);
  const account = privateKeyToAccount(key.startsWith('0x') ? key : `0x${key}`);
  const nativeCurrency = { name: '', symbol: '', decimals: 18 };
  const chain = { id: chainId, name: `${chainId}`, nativeCurrency, rpcUrls: {} };
  return createWalletClient({ account, chain, transport });
};

/** Sends one transaction and waits for it. The receipt's logs say what arrived. */
const send = async (client, sender, { to, data, value, rawTransaction }) => {
  const hashOf = async () => {
    if (rawTransaction) return client.sendRawTransaction({ serializedTransaction: rawTransaction });
    const estimate = await client.estimateGas({ account: sender.account, to, data, value });
    // An item that runs out of gas fails alone, and estimates do not see that. Unused gas is not paid for.
    const ample = (estimate * 3n) / 2n + 100_000n;
    return sender.sendTransaction({ to, data, value, gas: ample < mostGas ? ample : mostGas });
  };
  const hash = await hashOf();
  const receipt = await client.waitForTransactionReceipt({ hash });
  if (receipt.status !== 'success') throw new Fault(`The transaction ${hash} was reverted.`);
  return receipt;
};

const costOf = async (client, sender, factory, steps, symbol) => {
  // Not of the real call: the contract that it calls may not exist yet.
  const gas = await client.estimateGas({ account: sender.account, data: factory.creationCode });
  const fee = `about ${formatUnits(gas * (await client.getGasPrice()), 18)} ${symbol} for gas`;
  const funding = steps.reduce((sum, { value = 0n }) => sum + value, 0n);
  if (funding === 0n) return fee;
  return `${formatUnits(funding, 18)} ${symbol} for the CREATE2 deployer and ${fee}`;
};

/** Deploys the factory. That costs more than gas and is not undone, so a person must have asked for it. */
export const deploy = async ({ client, sender, factory, symbol, isAllowed }, steps) => {
  const cost = await costOf(client, sender, factory, steps, symbol);
  if (!isAllowed) throw new Fault(`The factory is not on this chain. --deploy deploys it and pays ${cost}.`);
  console.log(`Deploying the factory costs ${cost}.`);
  for (const step of steps) await send(client, sender, step);
  const code = await codeAt(client, factory.address);
  // A sweep sent to another contract, or to none, would succeed and do nothing.
  if (code === null || keccak256(code) !== factory.codeHash)
    throw new Fault(`The factory is not at ${factory.address} after its deployment. Nothing was swept.`);
};

/** What each forwarder sent of the token, by address. */
const forwardedIn = (factory, token, logs) => {
  const own = logs.filter(({ address }) => getAddress(address) === factory.address);
  const events = parseEventLogs({ abi, logs: own }).filter(({ args }) => args.token === token);
  return new Map(events.map(({ args }) => [args.forwarder, args.amount]));
};

/** Sends sweeps of one token and reports every payment. One without an event did not move, whatever the reason. */
export const sendSweeps = async ({ client, sender, factory, faults }, token, facts, sweeps) => {
  for (const step of sweeps) {
    try {
      const { logs, transactionHash } = await send(client, sender, step);
      const forwarded = forwardedIn(factory, token, logs);
      for (const { id, address } of step.payments) {
        const amount = forwarded.get(address);
        if (amount !== undefined) console.log(`${id}  ${amountText(facts, amount)}  ${transactionHash}`);
        else faults.add(`${id}  FAILED ${facts.symbol}  ${transactionHash}`);
      }
    } catch (error) {
      for (const { id } of step.payments) faults.add(`${id}  FAILED ${facts.symbol}  ${sentenceOf(error)}`);
    }
  }
};
