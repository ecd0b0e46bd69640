#!/usr/bin/env node
// Sweeps the payments of a recovery file to their treasuries. It needs no Florin: only Node 22 or newer and viem.
import { parseArgs } from 'node:util';
import { createPublicClient, getAddress, http, isAddress } from 'viem';
import { createFaultList, Fault, sentenceOf } from './faults.mjs';
import { amountText, coin, findHoldings, isOn, tokensOn } from './holdings.mjs';
import { checkAddresses, openFile, readPassphrase } from './recoveryFile.mjs';
import { deploy, deploymentOf, senderOf, sendSweeps, sweepsOf } from './sending.mjs';

const usage = `Usage: node sweep.mjs list|print|send FILE --rpc URL [options]

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

const options = {
  rpc: { type: 'string' },
  token: { type: 'string', multiple: true, default: [] },
  'all-payments': { type: 'boolean', default: false },
  deploy: { type: 'boolean', default: false },
  'gas-per-item': { type: 'string', default: '200000' },
  'no-batch': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};

const wrong = message => new Fault(`${message} Run it with --help to see the options.`, 2);

const readArguments = () => {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw wrong(sentenceOf(error));
  }
};

/** The arguments, or null if a person asks for help. */
const readRequest = () => {
  const { values, positionals } = readArguments();
  if (values.help) return null;
  const [command, path, ...more] = positionals;
  if (!['list', 'print', 'send'].includes(command)) throw wrong('Give list, print or send.');
  if (!path || more.length > 0) throw wrong('Give one recovery file.');
  if (!URL.canParse(values.rpc ?? '')) throw wrong('Give the URL of a node with --rpc.');
  for (const token of values.token) if (!isAddress(token)) throw wrong(`${token} is not an address.`);
  if (!/^[1-9]\d{0,8}$/.test(values['gas-per-item'])) throw wrong('--gas-per-item must be a whole number.');
  return { ...values, command, path, gasPerItem: BigInt(values['gas-per-item']) };
};

const list = async ({ deployment }) => {
  if (deployment.length > 0)
    console.log('The factory is not on this chain yet: print begins with its deployment, and send needs --deploy.');
  return {
    token(_token, facts, holdings) {
      for (const { payment, amount } of holdings) {
        console.log(`${payment.id}  ${payment.address}  ${amountText(facts, amount)}  to ${payment.treasury}`);
      }
    },
    end() {},
  };
};

const print = async ({ chainId, factory, deployment, gasPerItem }) => {
  const sweeps = [];
  const plain = (_name, value) => (typeof value === 'bigint' ? `0x${value.toString(16)}` : value);
  return {
    token(token, _facts, holdings) {
      sweeps.push(...sweepsOf(factory, token, gasPerItem, holdings));
    },
    end() {
      const named = sweeps.map(({ payments, ...step }) => ({ ...step, payments: payments.map(({ id }) => id) }));
      const steps = sweeps.length === 0 ? [] : [...deployment, ...named];
      const text = JSON.stringify(
        steps.map(step => ({ chainId, ...step })),
        plain,
        2,
      );
      console.log(text);
    },
  };
};

const send = async ({ client, transport, chainId, factory, deployment, tokens, faults, gasPerItem, isAllowed }) => {
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
        sweepsOf(factory, token, gasPerItem, holdings),
      );
    },
    end() {
      if (faults.count() > 0) console.error('What failed is still at its address: try again later.');
    },
  };
};

const main = async () => {
  const request = readRequest();
  if (request === null) return console.log(usage);
  const { command, gasPerItem, deploy: isAllowed } = request;
  const faults = createFaultList();
  const { header, payments } = await openFile(request.path, await readPassphrase());
  const { factory } = header;
  const sound = checkAddresses(factory, payments, faults);
  const transport = http(request.rpc, { batch: request['no-batch'] ? false : { batchSize: 100 } });
  const client = createPublicClient({ transport, pollingInterval: 500 });
  const chainId = await client.getChainId();
  const wanted = request['all-payments'] ? sound : sound.filter(payment => isOn(chainId, payment));
  const more = request.token.map(token => getAddress(token));
  const tokens = tokensOn(chainId, header, sound, more);
  const deployment = await deploymentOf(client, factory);
  const context = { client, transport, chainId, factory, deployment, tokens, faults, gasPerItem, isAllowed };
  const job = await { list, print, send }[command](context);
  let isEmpty = true;
  for (const [token, facts] of tokens) {
    const holdings = await findHoldings(client, token, facts, wanted, faults);
    if (holdings.length === 0) continue;
    isEmpty = false;
    await job.token(token, facts, holdings);
  }
  if (isEmpty && command !== 'print' && faults.count() === 0) console.log('The addresses hold nothing on this chain.');
  job.end();
  if (faults.count() > 0) process.exitCode = 1;
};

main().catch(error => {
  console.error(sentenceOf(error));
  process.exitCode = error instanceof Fault ? error.exitCode : 1;
});
