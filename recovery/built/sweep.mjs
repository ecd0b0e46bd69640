#!/usr/bin/env node

// recovery/sweep.mjs
import { parseArgs } from "node:util";
import { createPublicClient, getAddress as getAddress2, http, isAddress } from "viem";

// recovery/faults.mjs
var Fault = class extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
};
var sentenceOf = (error) => {
  const firstLine = (text) => `${text}`.split("\n")[0];
  const sentence = firstLine(error?.shortMessage ?? error?.message ?? error);
  const details = error?.shortMessage && error.details ? firstLine(error.details) : "";
  return details === "" || sentence.includes(details) ? sentence : `${sentence} (${details})`;
};
var createFaultList = () => {
  let count = 0;
  return {
    add: (sentence) => {
      count += 1;
      console.error(sentence);
    },
    count: () => count
  };
};

// recovery/holdings.mjs
import { formatUnits, parseAbi } from "viem";
var abi = parseAbi(["function balanceOf(address holder) view returns (uint256)"]);
var coin = "0x0000000000000000000000000000000000000000";
var readAtOnce = 500;
var chunks = (list2, size) => Array.from({ length: Math.ceil(list2.length / size) }, (_, at) => list2.slice(at * size, (at + 1) * size));
var codeAt = async (client, address) => {
  const code = await client.getCode({ address });
  return code === void 0 || code === "0x" ? null : code;
};
var isOn = (chainId, { chainId: own, chainIds }) => own === chainId || chainIds?.includes(chainId) === true;
var tokensOn = (chainId, { networks }, payments, more) => {
  const here = networks.filter((network) => network.chainId === chainId);
  const tokens = /* @__PURE__ */ new Map([[coin, { symbol: here[0]?.nativeCurrency ?? "coin", decimals: 18 }]]);
  for (const network of here) {
    for (const { contract, symbol, decimals } of network.tokens) tokens.set(contract, { symbol, decimals });
  }
  for (const { contract, chainId: own, currency: symbol, decimals } of payments) {
    if (contract && own === chainId && !tokens.has(contract)) tokens.set(contract, { symbol, decimals });
  }
  for (const contract of more) {
    tokens.set(contract, { symbol: contract, decimals: 0, ...tokens.get(contract), isAskedFor: true });
  }
  return tokens;
};
var amountText = ({ decimals, symbol }, amount) => `${formatUnits(amount, decimals)} ${symbol}`;
var balanceOf = (client, token, address) => token === coin ? client.getBalance({ address }) : client.readContract({ abi, address: token, functionName: "balanceOf", args: [address] });
var readBalances = async (client, { token, symbol }, payments, faults) => {
  const holdings = [];
  for (const some of chunks(payments, readAtOnce)) {
    const answers = await Promise.allSettled(some.map(({ address }) => balanceOf(client, token, address)));
    some.forEach((payment, at) => {
      const amount = answers[at].value ?? 0n;
      if (amount > 0n) holdings.push({ payment, token, amount });
    });
    const refused = answers.filter(({ status }) => status === "rejected");
    if (refused.length === 0) continue;
    faults.add(`${symbol}: ${refused.length} balances could not be read. ${sentenceOf(refused[0].reason)}`);
    if (refused.length === some.length) break;
  }
  return holdings;
};
var findHoldings = async (client, token, { symbol, isAskedFor }, payments, faults) => {
  try {
    if (token !== coin && await codeAt(client, token) === null) {
      if (isAskedFor) faults.add(`${token} is not a contract on this chain.`);
      return [];
    }
  } catch (error) {
    faults.add(`${symbol} could not be read. ${sentenceOf(error)}`);
    return [];
  }
  return readBalances(client, { token, symbol }, payments, faults);
};

// recovery/recoveryFile.mjs
import { createDecipheriv, scryptSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { createGunzip } from "node:zlib";
import { encodeAbiParameters, getContractAddress, keccak256 } from "viem";
var readPassphrase = async () => {
  if (process.env.FLORIN_RECOVERY_PASSPHRASE) return process.env.FLORIN_RECOVERY_PASSPHRASE;
  const isTerminal = process.stdin.isTTY === true;
  if (isTerminal) process.stderr.write("Passphrase: ");
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, ...isTerminal ? { output, terminal: true } : {} });
  lines.once("close", () => {
    if (isTerminal) process.stderr.write("\n");
  });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  throw new Fault("No passphrase was given.");
};
var readEnvelope = (path) => {
  try {
    const envelope = JSON.parse(readFileSync(path, "utf8"));
    if (envelope.format === "florin-recovery" && envelope.version === 1) return envelope;
  } catch (error) {
    if (error.code !== void 0) throw new Fault(`${path} cannot be read (${error.code}).`);
  }
  throw new Fault(`${path} is not a recovery file of version 1.`);
};
var decrypt = ({ kdf, cipher, data }, passphrase) => {
  try {
    const cost = { N: kdf.N, r: kdf.r, p: kdf.p, maxmem: 256 * kdf.N * kdf.r };
    const key = scryptSync(passphrase.normalize("NFKC"), Buffer.from(kdf.salt, "hex"), 32, cost);
    const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(cipher.iv, "hex"), { authTagLength: 16 });
    decipher.setAuthTag(Buffer.from(cipher.tag, "hex"));
    return [decipher.update(data, "base64"), decipher.final()];
  } catch {
    throw new Fault("The passphrase is wrong, or the file is damaged.");
  }
};
var openFile = async (path, passphrase) => {
  const opened = decrypt(readEnvelope(path), passphrase);
  let header = null;
  const payments = [];
  for await (const line of createInterface({ input: Readable.from(opened).pipe(createGunzip()) })) {
    if (header === null) header = JSON.parse(line);
    else payments.push(JSON.parse(line));
  }
  return { header, payments };
};
var addressCheck = (factory) => {
  const code = getContractAddress({ from: factory.address, nonce: 1n }).slice(2).toLowerCase();
  const bytecodeHash = keccak256(`0x3d602b80600a3d3981f33615602a57363d3d373d3d363d73${code}5af4602a573d3dfd5b`);
  return ({ treasury, salt, address }) => {
    try {
      const bound = keccak256(encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [treasury, salt]));
      return getContractAddress({ opcode: "CREATE2", from: factory.address, salt: bound, bytecodeHash }) === address;
    } catch {
      return false;
    }
  };
};
var checkAddresses = (factory, payments, faults) => {
  const follows = addressCheck(factory);
  return payments.filter((payment) => {
    const isSound = follows(payment);
    if (!isSound) faults.add(`${payment.id} is skipped: its address does not follow from its treasury and salt.`);
    return isSound;
  });
};

// recovery/sending.mjs
import {
  createWalletClient,
  encodeFunctionData,
  formatUnits as formatUnits2,
  getAddress,
  keccak256 as keccak2562,
  parseAbi as parseAbi2,
  parseEventLogs
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
var abi2 = parseAbi2([
  "function sweep(address treasury, address token, bytes32[] salts, uint256 gasPerItem) returns (uint256[])",
  "event Forwarded(address indexed forwarder, address indexed token, uint256 amount)"
]);
var paymentsInSweep = 50;
var mostGas = 2n ** 24n;
var sweepsOf = (factory, token, gasPerItem, holdings) => [...Map.groupBy(holdings, ({ payment }) => payment.treasury)].flatMap(
  ([treasury, group]) => chunks(group, paymentsInSweep).map((some) => {
    const args = [treasury, token, some.map(({ payment }) => payment.salt), gasPerItem];
    const data = encodeFunctionData({ abi: abi2, functionName: "sweep", args });
    return { to: factory.address, value: 0n, data, payments: some.map(({ payment }) => payment) };
  })
);
var deploymentOf = async (client, { address, codeHash, deployment, deployer }) => {
  const code = await codeAt(client, address);
  if (code !== null) {
    if (keccak2562(code) === codeHash) return [];
    throw new Fault(`The contract at ${address} is not the factory. Use another node.`);
  }
  const steps = [{ ...deployment, value: 0n }];
  if (await codeAt(client, deployer.address) !== null) return steps;
  const missing = BigInt(deployer.fundingWei) - await client.getBalance({ address: deployer.signer });
  steps.unshift({ rawTransaction: deployer.rawTransaction });
  if (missing > 0n) steps.unshift({ to: deployer.signer, value: missing, data: "0x" });
  return steps;
};
var senderOf = (transport, chainId) => {
  const key = process.env.RECOVERY_PRIVATE_KEY;
  if (!/^(0x)?[0-9a-f]{64}$/i.test(key ?? ""))
    throw new Fault("Set RECOVERY_PRIVATE_KEY to the key that pays the gas.", 2);
  const account = privateKeyToAccount(key.startsWith("0x") ? key : `0x${key}`);
  const nativeCurrency = { name: "", symbol: "", decimals: 18 };
  const chain = { id: chainId, name: `${chainId}`, nativeCurrency, rpcUrls: {} };
  return createWalletClient({ account, chain, transport });
};
var send = async (client, sender, { to, data, value, rawTransaction }) => {
  const hashOf = async () => {
    if (rawTransaction) return client.sendRawTransaction({ serializedTransaction: rawTransaction });
    const estimate = await client.estimateGas({ account: sender.account, to, data, value });
    const ample = estimate * 3n / 2n + 100000n;
    return sender.sendTransaction({ to, data, value, gas: ample < mostGas ? ample : mostGas });
  };
  const hash = await hashOf();
  const receipt = await client.waitForTransactionReceipt({ hash });
  if (receipt.status !== "success") throw new Fault(`The transaction ${hash} was reverted.`);
  return receipt;
};
var costOf = async (client, sender, factory, steps, symbol) => {
  const gas = await client.estimateGas({ account: sender.account, data: factory.creationCode });
  const fee = `about ${formatUnits2(gas * await client.getGasPrice(), 18)} ${symbol} for gas`;
  const funding = steps.reduce((sum, { value = 0n }) => sum + value, 0n);
  if (funding === 0n) return fee;
  return `${formatUnits2(funding, 18)} ${symbol} for the CREATE2 deployer and ${fee}`;
};
var deploy = async ({ client, sender, factory, symbol, isAllowed }, steps) => {
  const cost = await costOf(client, sender, factory, steps, symbol);
  if (!isAllowed) throw new Fault(`The factory is not on this chain. --deploy deploys it and pays ${cost}.`);
  console.log(`Deploying the factory costs ${cost}.`);
  for (const step of steps) await send(client, sender, step);
  const code = await codeAt(client, factory.address);
  if (code === null || keccak2562(code) !== factory.codeHash)
    throw new Fault(`The factory is not at ${factory.address} after its deployment. Nothing was swept.`);
};
var forwardedIn = (factory, token, logs) => {
  const own = logs.filter(({ address }) => getAddress(address) === factory.address);
  const events = parseEventLogs({ abi: abi2, logs: own }).filter(({ args }) => args.token === token);
  return new Map(events.map(({ args }) => [args.forwarder, args.amount]));
};
var sendSweeps = async ({ client, sender, factory, faults }, token, facts, sweeps) => {
  for (const step of sweeps) {
    try {
      const { logs, transactionHash } = await send(client, sender, step);
      const forwarded = forwardedIn(factory, token, logs);
      for (const { id, address } of step.payments) {
        const amount = forwarded.get(address);
        if (amount !== void 0) console.log(`${id}  ${amountText(facts, amount)}  ${transactionHash}`);
        else faults.add(`${id}  FAILED ${facts.symbol}  ${transactionHash}`);
      }
    } catch (error) {
      for (const { id } of step.payments) faults.add(`${id}  FAILED ${facts.symbol}  ${sentenceOf(error)}`);
    }
  }
};

// recovery/sweep.mjs
var usage = `Usage: node sweep.mjs list|print|send FILE --rpc URL [options]

  list   shows what the addresses hold on the chain of the node
  print  prints the unsigned transactions as JSON, for a wallet of yours
  send   sends them; the key in RECOVERY_PRIVATE_KEY pays the gas, and with --deploy the deployment

  --rpc URL         a node of the chain to sweep
  --token ADDRESS   another token contract to look for; may be repeated
  --all-payments    also sweep payments of other chains, whose addresses are the same here. Their treasury must be
                    yours on this chain too: a contract, such as a Safe, may belong to somebody else here
  --deploy          deploy the factory if the chain lacks it. The cost is printed first: the gas, and up to 0.01 coin
                    that the CREATE2 deployer uses up
  --gas-per-item N  gas that one payment may use at its token or treasury (200000)
  --no-batch        for a node that takes no batches of calls
  --help            show this

The passphrase is read from FLORIN_RECOVERY_PASSPHRASE, from a prompt, or from the first line of the input.
Money of payments can only go to the treasury of each payment, whoever sends the transactions.
Exit codes: 0 done, 1 something failed, 2 wrong arguments.`;
var options = {
  rpc: { type: "string" },
  token: { type: "string", multiple: true, default: [] },
  "all-payments": { type: "boolean", default: false },
  deploy: { type: "boolean", default: false },
  "gas-per-item": { type: "string", default: "200000" },
  "no-batch": { type: "boolean", default: false },
  help: { type: "boolean", default: false }
};
var wrong = (message) => new Fault(`${message} Run it with --help to see the options.`, 2);
var readArguments = () => {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw wrong(sentenceOf(error));
  }
};
var readRequest = () => {
  const { values, positionals } = readArguments();
  if (values.help) return null;
  const [command, path, ...more] = positionals;
  if (!["list", "print", "send"].includes(command)) throw wrong("Give list, print or send.");
  if (!path || more.length > 0) throw wrong("Give one recovery file.");
  if (!URL.canParse(values.rpc ?? "")) throw wrong("Give the URL of a node with --rpc.");
  for (const token of values.token) if (!isAddress(token)) throw wrong(`${token} is not an address.`);
  if (!/^[1-9]\d{0,8}$/.test(values["gas-per-item"])) throw wrong("--gas-per-item must be a whole number.");
  return { ...values, command, path, gasPerItem: BigInt(values["gas-per-item"]) };
};
var list = async ({ deployment }) => {
  if (deployment.length > 0)
    console.log("The factory is not on this chain yet: print begins with its deployment, and send needs --deploy.");
  return {
    token(_token, facts, holdings) {
      for (const { payment, amount } of holdings) {
        console.log(`${payment.id}  ${payment.address}  ${amountText(facts, amount)}  to ${payment.treasury}`);
      }
    },
    end() {
    }
  };
};
var print = async ({ chainId, factory, deployment, gasPerItem }) => {
  const sweeps = [];
  const plain = (_name, value) => typeof value === "bigint" ? `0x${value.toString(16)}` : value;
  return {
    token(token, _facts, holdings) {
      sweeps.push(...sweepsOf(factory, token, gasPerItem, holdings));
    },
    end() {
      const named = sweeps.map(({ payments, ...step }) => ({ ...step, payments: payments.map(({ id }) => id) }));
      const steps = sweeps.length === 0 ? [] : [...deployment, ...named];
      const text = JSON.stringify(
        steps.map((step) => ({ chainId, ...step })),
        plain,
        2
      );
      console.log(text);
    }
  };
};
var send2 = async ({ client, transport, chainId, factory, deployment, tokens, faults, gasPerItem, isAllowed }) => {
  const sender = senderOf(transport, chainId);
  let missing = deployment;
  return {
    async token(token, facts, holdings) {
      const { symbol } = tokens.get(coin);
      if (missing.length > 0) await deploy({ client, sender, factory, symbol, isAllowed }, missing);
      missing = [];
      await sendSweeps(
        { client, sender, factory, faults },
        token,
        facts,
        sweepsOf(factory, token, gasPerItem, holdings)
      );
    },
    end() {
      if (faults.count() > 0) console.error("What failed is still at its address: try again later.");
    }
  };
};
var main = async () => {
  const request = readRequest();
  if (request === null) return console.log(usage);
  const { command, gasPerItem, deploy: isAllowed } = request;
  const faults = createFaultList();
  const { header, payments } = await openFile(request.path, await readPassphrase());
  const { factory } = header;
  const sound = checkAddresses(factory, payments, faults);
  const transport = http(request.rpc, { batch: request["no-batch"] ? false : { batchSize: 100 } });
  const client = createPublicClient({ transport, pollingInterval: 500 });
  const chainId = await client.getChainId();
  const wanted = request["all-payments"] ? sound : sound.filter((payment) => isOn(chainId, payment));
  const more = request.token.map((token) => getAddress2(token));
  const tokens = tokensOn(chainId, header, sound, more);
  const deployment = await deploymentOf(client, factory);
  const context = { client, transport, chainId, factory, deployment, tokens, faults, gasPerItem, isAllowed };
  const job = await { list, print, send: send2 }[command](context);
  let isEmpty = true;
  for (const [token, facts] of tokens) {
    const holdings = await findHoldings(client, token, facts, wanted, faults);
    if (holdings.length === 0) continue;
    isEmpty = false;
    await job.token(token, facts, holdings);
  }
  if (isEmpty && command !== "print" && faults.count() === 0) console.log("The addresses hold nothing on this chain.");
  job.end();
  if (faults.count() > 0) process.exitCode = 1;
};
main().catch((error) => {
  console.error(sentenceOf(error));
  process.exitCode = error instanceof Fault ? error.exitCode : 1;
});
