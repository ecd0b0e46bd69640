#!/usr/bin/env node
// Sweeps the payments of a recovery file to their treasuries. It needs no Florin: only Node 22 or newer and viem.
import { createDecipheriv, scryptSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import {
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  formatUnits,
  getAddress,
  getContractAddress,
  http,
  keccak256,
  parseAbi,
  parseEventLogs,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const usage = `Usage: node sweep.mjs list|print|send FILE --rpc URL [options]

  list   shows what the addresses hold on the chain of the node
  print  prints the unsigned transactions as JSON, for a wallet of yours
  send   sends them; the key in RECOVERY_PRIVATE_KEY pays the gas

  --rpc URL         a node of the chain to sweep
  --token ADDRESS   another token contract to look for; may be repeated
  --all-payments    also sweep payments of other chains, whose addresses are the same here. Their treasury must be
                    yours on this chain too: a contract, such as a Safe, may belong to somebody else here
  --no-batch        for a node that takes no batches of calls

The passphrase is read from FLORIN_RECOVERY_PASSPHRASE, from a prompt, or from the first line of the input.
Money can only go to the treasury of each payment, whoever sends the transactions.`;

const abi = parseAbi([
  'function sweep(address treasury, address token, bytes32[] salts, uint256 gasPerItem) returns (uint256[])',
  'function balanceOf(address holder) view returns (uint256)',
  'event Forwarded(address indexed forwarder, address indexed token, uint256 amount)',
  'event ForwardFailed(address indexed forwarder, address indexed token)',
]);
const coin = '0x0000000000000000000000000000000000000000';
const gasPerItem = 200_000n;
const paymentsInSweep = 100;
const readAtOnce = 500;

/** A fault that a person can do something about. Printed without a stack. */
class Fault extends Error {}

const chunks = (list, size) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));

const readPassphrase = async () => {
  if (process.env.FLORIN_RECOVERY_PASSPHRASE) return process.env.FLORIN_RECOVERY_PASSPHRASE;
  const isTerminal = process.stdin.isTTY === true;
  if (isTerminal) process.stderr.write('Passphrase: ');
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, ...(isTerminal ? { output, terminal: true } : {}) });
  for await (const line of lines) {
    lines.close();
    if (isTerminal) process.stderr.write('\n');
    return line;
  }
  throw new Fault('Give the passphrase.');
};

const readEnvelope = path => {
  try {
    const envelope = JSON.parse(readFileSync(path, 'utf8'));
    if (envelope.format === 'florin-recovery' && envelope.version === 1) return envelope;
  } catch (error) {
    if (error.code !== undefined) throw new Fault(`${path} cannot be read (${error.code}).`);
  }
  throw new Fault(`${path} is not a recovery file of version 1.`);
};

/** The header and the payments. Nothing is used before the whole file has proved authentic. */
const openFile = async (path, passphrase) => {
  const { kdf, cipher, data } = readEnvelope(path);
  const cost = { N: kdf.N, r: kdf.r, p: kdf.p, maxmem: 256 * kdf.N * kdf.r };
  const key = scryptSync(passphrase.normalize('NFKC'), Buffer.from(kdf.salt, 'hex'), 32, cost);
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(cipher.iv, 'hex'));
  decipher.setAuthTag(Buffer.from(cipher.tag, 'hex'));
  const opened = [decipher.update(data, 'base64')];
  try {
    opened.push(decipher.final());
  } catch {
    throw new Fault('The passphrase is wrong, or the file is damaged.');
  }
  let header = null;
  const payments = [];
  for await (const line of createInterface({ input: Readable.from(opened).pipe(createGunzip()) })) {
    if (header === null) header = JSON.parse(line);
    else payments.push(JSON.parse(line));
  }
  return { header, payments };
};

/** Derives each address anew, as the factory does. An address that differs could not be swept. */
const checkAddresses = (factory, payments) => {
  const code = getContractAddress({ from: factory.address, nonce: 1n }).slice(2).toLowerCase();
  const bytecodeHash = keccak256(`0x3d602b80600a3d3981f33615602a57363d3d373d3d363d73${code}5af4602a573d3dfd5b`);
  for (const { id, treasury, salt, address } of payments) {
    const bound = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [treasury, salt]));
    const derived = getContractAddress({ opcode: 'CREATE2', from: factory.address, salt: bound, bytecodeHash });
    if (derived !== address) throw new Fault(`The address of ${id} does not follow from its treasury and salt.`);
  }
};

/** The coin and every token to look for on this chain, by address. */
const tokensOn = (chainId, { networks }, payments, more) => {
  const here = networks.filter(network => network.chainId === chainId);
  const tokens = new Map([[coin, { symbol: here[0]?.nativeCurrency ?? 'coin', decimals: 18 }]]);
  for (const network of here) {
    for (const { contract, symbol, decimals } of network.tokens) tokens.set(contract, { symbol, decimals });
  }
  for (const { contract, chainId: own, currency: symbol, decimals } of payments) {
    if (contract !== null && own === chainId && !tokens.has(contract)) tokens.set(contract, { symbol, decimals });
  }
  for (const contract of more) if (!tokens.has(contract)) tokens.set(contract, { symbol: contract, decimals: 0 });
  return tokens;
};

const balanceOf = (client, token, address) =>
  token === coin
    ? client.getBalance({ address })
    : client.readContract({ abi, address: token, functionName: 'balanceOf', args: [address] });

/** What the addresses hold: a payment, a token and an amount each. */
const findHoldings = async (client, payments, tokens) => {
  const holdings = [];
  for (const token of tokens.keys()) {
    const code = token === coin ? '0x' : await client.getCode({ address: token });
    if (token !== coin && (code === undefined || code === '0x')) continue;
    for (const some of chunks(payments, readAtOnce)) {
      const amounts = await Promise.all(some.map(({ address }) => balanceOf(client, token, address)));
      some.forEach((payment, at) => {
        if (amounts[at] > 0n) holdings.push({ payment, token, amount: amounts[at] });
      });
    }
  }
  return holdings;
};

/** One transaction for up to a hundred payments of one treasury in one token. */
const sweepsOf = (factory, holdings) =>
  [...Map.groupBy(holdings, ({ payment, token }) => `${payment.treasury} ${token}`).values()]
    .flatMap(group => chunks(group, paymentsInSweep))
    .map(some => {
      const [{ payment, token }] = some;
      const salts = some.map(each => each.payment.salt);
      const args = [payment.treasury, token, salts, gasPerItem];
      return {
        to: factory.address,
        value: 0n,
        data: encodeFunctionData({ abi, functionName: 'sweep', args }),
        payments: some.map(each => each.payment.id),
      };
    });

/** What makes the factory exist on this chain; empty if it does. */
const deploymentOf = async (client, { address, codeHash, deployment, deployer }) => {
  const code = await client.getCode({ address });
  if (code !== undefined && code !== '0x') {
    if (keccak256(code) === codeHash) return [];
    throw new Fault(`The contract at ${address} is not the factory. Use another node.`);
  }
  const steps = [{ ...deployment, value: 0n }];
  const existing = await client.getCode({ address: deployer.address });
  if (existing !== undefined && existing !== '0x') return steps;
  const missing = BigInt(deployer.fundingWei) - (await client.getBalance({ address: deployer.signer }));
  steps.unshift({ rawTransaction: deployer.rawTransaction });
  if (missing > 0n) steps.unshift({ to: deployer.signer, value: missing, data: '0x' });
  return steps;
};

const amountText = (tokens, { token, amount }) =>
  `${formatUnits(amount, tokens.get(token).decimals)} ${tokens.get(token).symbol}`;

const senderOf = (transport, chainId) => {
  const key = process.env.RECOVERY_PRIVATE_KEY;
  if (!/^(0x)?[0-9a-f]{64}$/i.test(key ?? ''))
    throw new Fault('Set RECOVERY_PRIVATE_KEY to the key that pays the gas.');
  const account = privateKeyToAccount(key.startsWith('0x') ? key : `0x${key}`);
  const chain = {
    id: chainId,
    name: `${chainId}`,
    nativeCurrency: { name: '', symbol: '', decimals: 18 },
    rpcUrls: {},
  };
  return createWalletClient({ account, chain, transport });
};

/** Sends one transaction and waits for it. The receipt's logs say what arrived. */
const send = async (client, sender, step) => {
  const { to, data, value, rawTransaction } = step;
  if (rawTransaction) {
    return client.waitForTransactionReceipt({
      hash: await client.sendRawTransaction({ serializedTransaction: rawTransaction }),
    });
  }
  const estimate = await client.estimateGas({ account: sender.account, to, data, value });
  // An item that runs out of gas fails alone, and estimates do not see that. Unused gas is not paid for.
  const hash = await sender.sendTransaction({ to, data, value, gas: (estimate * 3n) / 2n + 100_000n });
  const receipt = await client.waitForTransactionReceipt({ hash });
  if (receipt.status !== 'success') throw new Fault(`The transaction ${hash} was reverted.`);
  return receipt;
};

/** Sends everything and reports it. Returns how many items failed. */
const sendAll = async ({ client, sender, factory, tokens, payments }, deployment, sweeps) => {
  const idOf = new Map(payments.map(({ id, address }) => [address, id]));
  let failed = 0;
  for (const step of deployment) await send(client, sender, step);
  for (const step of sweeps) {
    const { logs, transactionHash } = await send(client, sender, step);
    const own = logs.filter(({ address }) => getAddress(address) === factory.address);
    for (const { eventName, args } of parseEventLogs({ abi, logs: own })) {
      const id = idOf.get(args.forwarder);
      if (eventName === 'Forwarded') console.log(`${id}  ${amountText(tokens, args)}  ${transactionHash}`);
      else console.log(`${id}  FAILED ${tokens.get(args.token).symbol}  ${transactionHash}`);
      if (eventName === 'ForwardFailed') failed += 1;
    }
  }
  return failed;
};

const list = (holdings, tokens, deployment) => {
  if (deployment.length > 0) console.log('The factory is not on this chain yet: print and send deploy it first.');
  for (const holding of holdings) {
    const { id, address, treasury } = holding.payment;
    console.log(`${id}  ${address}  ${amountText(tokens, holding)}  to ${treasury}`);
  }
  if (holdings.length === 0) console.log('The addresses hold nothing on this chain.');
};

const options = {
  rpc: { type: 'string' },
  token: { type: 'string', multiple: true, default: [] },
  'all-payments': { type: 'boolean', default: false },
  'no-batch': { type: 'boolean', default: false },
};

const main = async () => {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [command, path] = positionals;
  if (!['list', 'print', 'send'].includes(command) || !path || !values.rpc) throw new Fault(usage);
  const { header, payments: all } = await openFile(path, await readPassphrase());
  const { factory } = header;
  checkAddresses(factory, all);
  const transport = http(values.rpc, { batch: values['no-batch'] ? false : { batchSize: 100 } });
  const client = createPublicClient({ transport, pollingInterval: 500 });
  const chainId = await client.getChainId();
  const payments = values['all-payments'] ? all : all.filter(payment => payment.chainId === chainId);
  const tokens = tokensOn(chainId, header, all, values.token.map(getAddress));
  const holdings = await findHoldings(client, payments, tokens);
  const deployment = await deploymentOf(client, factory);
  if (command === 'list') return list(holdings, tokens, deployment);
  const sweeps = sweepsOf(factory, holdings);
  if (sweeps.length === 0) return console.log(command === 'print' ? '[]' : 'The addresses hold nothing on this chain.');
  if (command === 'print') {
    const plain = (_name, value) => (typeof value === 'bigint' ? `0x${value.toString(16)}` : value);
    return console.log(
      JSON.stringify(
        [...deployment, ...sweeps].map(step => ({ chainId, ...step })),
        plain,
        2,
      ),
    );
  }
  const sender = senderOf(transport, chainId);
  const failed = await sendAll({ client, sender, factory, tokens, payments }, deployment, sweeps);
  if (failed > 0) throw new Fault(`${failed} items failed. Their money is still at their addresses: try again later.`);
};

main().catch(error => {
  console.error(error instanceof Fault ? error.message : error);
  process.exitCode = 1;
});
