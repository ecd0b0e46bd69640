import { type ChainRpc, hexOf } from './chainRpc.ts';
import { type Check, isByBalance, type Walked } from './checkChain.ts';
import type { Tables } from './tables.ts';

/** Sums by account, token and flow, without those of nothing. */
const sumsOf = (flows: readonly (readonly [name: string, amount: bigint])[]): Map<string, bigint> => {
  const sums = new Map<string, bigint>();
  for (const [name, amount] of flows) sums.set(name, (sums.get(name) ?? 0n) + amount);
  return new Map([...sums].filter(([, amount]) => amount !== 0n));
};

/**
 * I16: the ledger balances and equals the chain, to the base unit. What arrived and what left is added up from the
 * chain's own logs and transactions. Coin that contracts sent is in neither: while things move it is taken as it was
 * recorded, which I2 judges, and at the end from the balances.
 */
export const checkLedger = async (
  tables: Tables,
  walked: Walked,
  listed: ReadonlySet<string>,
  rpc: ChainRpc,
  isSettled: boolean,
): Promise<Check> => {
  const byAddress = new Map(tables.payments.map(payment => [payment.address, payment]));
  const byId = new Map(tables.payments.map(payment => [payment.id, payment]));
  const flow = (accountId: string, contract: string | null, source: string, destination: string): string =>
    [accountId, contract ?? 'coin', source, destination].join(' ');
  const arrived = (payment: { accountId: string; contract: string | null }, contract: string | null): string =>
    flow(payment.accountId, contract, payment.contract === contract ? 'received' : 'stray', 'forwarders');
  const expected: [string, bigint][] = [];
  for (const { transfers } of walked.values()) {
    for (const { from, to, contract, amount } of transfers) {
      if (contract !== null && !listed.has(contract)) continue;
      const [payer, payee] = [byAddress.get(from), byAddress.get(to)];
      if (payee) expected.push([arrived(payee, contract), amount]);
      if (payer) expected.push([flow(payer.accountId, contract, 'forwarders', 'treasury'), amount]);
    }
  }
  const standing = tables.transfers.filter(row => row.canonical);
  for (const row of standing) {
    const payment = byId.get(row.paymentId)!;
    if (isByBalance(row)) expected.push([arrived(payment, null), BigInt(row.amount)]);
    if (!row.verified) expected.push([arrived(payment, row.contract), -BigInt(row.amount)]);
  }
  const posted = sumsOf(
    tables.ledger.map(({ accountId, contract, source, destination, amount }) => [
      flow(accountId, contract, source, destination),
      BigInt(amount),
    ]),
  );
  const facts = sumsOf(expected);
  const problems = [...new Set([...facts.keys(), ...posted.keys()])].flatMap(name => {
    const [onChain, inLedger] = [facts.get(name) ?? 0n, posted.get(name) ?? 0n];
    return onChain === inLedger ? [] : [`${name}: the chain moved ${onChain}, the ledger has ${inLedger}`];
  });
  if (isSettled) problems.push(...(await checkHeld(tables, posted, rpc)));
  return { what: `I16 the ledger's ${posted.size} flows are the chain's`, problems };
};

// The first four bytes of keccak-256 of "balanceOf(address)".
const balanceOf = '0x70a08231';

/** What the ledger says that receiving addresses hold is what they hold, by their balances. */
const checkHeld = async (tables: Tables, posted: ReadonlyMap<string, bigint>, rpc: ChainRpc): Promise<string[]> => {
  const at = hexOf(tables.chain.latestNumber);
  const tokens = new Set(tables.ledger.map(({ contract }) => contract));
  const questions = tables.payments.flatMap(payment => [...tokens].map(contract => ({ payment, contract })));
  const balances = await rpc.batch(
    questions.map(({ payment: { address }, contract }) =>
      contract === null
        ? ['eth_getBalance', address, at]
        : ['eth_call', { to: contract, data: `${balanceOf}${address.slice(2).padStart(64, '0')}` }, at],
    ),
  );
  const held = sumsOf(
    questions.map(({ payment, contract }, index) => [
      `${payment.accountId} ${contract ?? 'coin'}`,
      BigInt(balances[index] as string),
    ]),
  );
  const inLedger = sumsOf(
    [...posted].flatMap(([name, amount]) => {
      const [account, token, source, destination] = name.split(' ');
      const sign = destination === 'forwarders' ? 1n : source === 'forwarders' ? -1n : 0n;
      return [[`${account} ${token}`, sign * amount] as const];
    }),
  );
  return [...new Set([...held.keys(), ...inLedger.keys()])].flatMap(name => {
    const [onChain, recorded] = [held.get(name) ?? 0n, inLedger.get(name) ?? 0n];
    return onChain === recorded ? [] : [`${name}: addresses hold ${onChain}, the ledger says ${recorded}`];
  });
};
