import { formatUnits, parseAbi } from 'viem';
import { sentenceOf } from './faults.mjs';

const abi = parseAbi(['function balanceOf(address holder) view returns (uint256)']);
/** Stands for the chain's own coin where a token is expected, as in the factory. */
export const coin = '0x0000000000000000000000000000000000000000';
const readAtOnce = 500;

export const chunks = (list, size) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));

/** Code of a contract; null if there is none. */
export const codeAt = async (client, address) => {
  const code = await client.getCode({ address });
  return code === undefined || code === '0x' ? null : code;
};

/** A lost payment does not say its chain. It belongs to those on which its treasury was set. */
export const isOn = (chainId, { chainId: own, chainIds }) => own === chainId || chainIds?.includes(chainId) === true;

/** The coin and every token to look for on this chain, by address. */
export const tokensOn = (chainId, { networks }, payments, more) => {
  const here = networks.filter(network => network.chainId === chainId);
  const tokens = new Map([[coin, { symbol: here[0]?.nativeCurrency ?? 'coin', decimals: 18 }]]);
  for (const network of here) {
    for (const { contract, symbol, decimals } of network.tokens) tokens.set(contract, { symbol, decimals });
  }
  for (const { contract, chainId: own, currency: symbol, decimals } of payments) {
    if (contract && own === chainId && !tokens.has(contract)) tokens.set(contract, { symbol, decimals });
  }
  // The decimals of a token that nobody has listed are not known.
  for (const contract of more) {
    tokens.set(contract, { symbol: contract, decimals: 0, ...tokens.get(contract), isAskedFor: true });
  }
  return tokens;
};

export const amountText = ({ decimals, symbol }, amount) => `${formatUnits(amount, decimals)} ${symbol}`;

const balanceOf = (client, token, address) =>
  token === coin
    ? client.getBalance({ address })
    : client.readContract({ abi, address: token, functionName: 'balanceOf', args: [address] });

const readBalances = async (client, { token, symbol }, payments, faults) => {
  const holdings = [];
  for (const some of chunks(payments, readAtOnce)) {
    const answers = await Promise.allSettled(some.map(({ address }) => balanceOf(client, token, address)));
    some.forEach((payment, at) => {
      const amount = answers[at].value ?? 0n;
      if (amount > 0n) holdings.push({ payment, token, amount });
    });
    const refused = answers.filter(({ status }) => status === 'rejected');
    if (refused.length === 0) continue;
    faults.add(`${symbol}: ${refused.length} balances could not be read. ${sentenceOf(refused[0].reason)}`);
    // A token or node that answers nothing is not asked a million times.
    if (refused.length === some.length) break;
  }
  return holdings;
};

/** What the addresses hold of one token: a payment and an amount each. What cannot be read is named. */
export const findHoldings = async (client, token, { symbol, isAskedFor }, payments, faults) => {
  try {
    if (token !== coin && (await codeAt(client, token)) === null) {
      if (isAskedFor) faults.add(`${token} is not a contract on this chain.`);
      return [];
    }
  } catch (error) {
    faults.add(`${symbol} could not be read. ${sentenceOf(error)}`);
    return [];
  }
  return readBalances(client, { token, symbol }, payments, faults);
};
