import { formatUnits } from 'viem';
import { testnets } from '../../../src/core/registry/backings.ts';
import type { Sent } from '../../chains/followScene.ts';
import { byContract, bySelfdestruct } from '../../chains/sentByContract.ts';
import type { Api } from '../chaos/api.ts';
import type { Random } from '../fuzz/random.ts';
import type { Entry, World } from './world.ts';

export type Order = {
  readonly id: string;
  readonly address: string;
  readonly amount: bigint;
  /** Null: the native coin. */
  readonly contract: string | null;
  readonly world: World;
  readonly entries: Entry[];
};

export type Merchant = {
  readonly orders: Map<string, Order>;
  /** Things that must never be. */
  readonly outrages: string[];
  readonly refused: () => number;
  /** Asks for one payment, and pays it in some way. */
  order(random: Random): Promise<void>;
  /** Looks at all that Florin calls completed. Answers how many there are. */
  audit(): Promise<number>;
};

const pageSize = 100;

/** The sums in which a payment is paid: exactly, in parts, too little, too much, not at all. */
const sumsOf = (amount: bigint, random: Random): bigint[] => {
  const part = (amount * BigInt(1 + random.below(98))) / 100n;
  const kind = random.next();
  if (kind < 0.45) return [amount];
  if (kind < 0.65) return [part, amount - part];
  if (kind < 0.8) return [part];
  if (kind < 0.95) return [amount, part];
  return [];
};

/** Half of the native coin comes from contracts, which no transaction and no log shows. */
const sentTo = ({ world, address, contract }: Order, amount: bigint, random: Random): Sent => {
  if (contract !== null) return world.chain.transfer(address, amount, contract);
  const luck = random.next();
  if (luck < 0.5) return { to: address, value: amount };
  return luck < 0.75 ? byContract(address, amount) : bySelfdestruct(address, amount);
};

export const createMerchant = (api: Api, worlds: readonly World[]): Merchant => {
  const orders = new Map<string, Order>();
  const outrages: string[] = [];
  /** Final payments stay final, so a payment that was right is not checked again. */
  const audited = new Set<string>();
  let refused = 0;

  const finalSum = async ({ world, entries }: Order): Promise<bigint> => {
    const final = await world.chain.finalized();
    return entries.reduce((sum, { block, amount }) => (block !== null && block <= final ? sum + amount : sum), 0n);
  };

  const pay = (order: Order, amount: bigint, random: Random): void => {
    const { world, entries } = order;
    const sent = sentTo(order, amount, random);
    const entry = { sent, amount, block: null };
    entries.push(entry);
    world.submit(entry);
  };

  return {
    orders,
    outrages,
    refused: () => refused,
    async order(random) {
      const world = random.pick(worlds);
      const { nativeCurrency } = testnets[world.slug];
      const isToken = random.next() < 0.7;
      // Some are large enough for the proof by the receipts of the block.
      const cents = BigInt(1 + random.below(random.next() < 0.2 ? 3_000_000 : 10_000));
      const amount = isToken ? cents * 10_000n : cents * 10n ** 12n;
      const text = formatUnits(amount, isToken ? 6 : 18);
      const currency = isToken ? 'USDC' : nativeCurrency.symbol;
      const body = { amount: text, currency, network: world.slug, expiresIn: 86_400 };
      const answer = await api.call('POST', '/v1/payments', { body });
      if (answer.status !== 200) {
        refused += 1;
        if (answer.status !== 503) outrages.push(`create: ${answer.status} ${JSON.stringify(answer.body)}`);
        return;
      }
      const { id, address } = answer.body as { id: string; address: string };
      const order = { id, address, amount, contract: isToken ? world.tokens[0] : null, world, entries: [] };
      orders.set(id, order);
      for (const sum of sumsOf(amount, random)) if (sum > 0n) pay(order, sum, random);
    },
    async audit() {
      let seen = 0;
      for (let offset = 0; ; offset += pageSize) {
        const path = `/v1/payments?status=completed&limit=${pageSize}&offset=${offset}`;
        const { status, body } = await api.call('GET', path);
        const page = status === 200 ? (body.data as { id: string }[]) : [];
        for (const { id } of page) {
          if (audited.has(id)) continue;
          audited.add(id);
          const order = orders.get(id);
          // One that was just created may be in the list before its answer is here; nothing is paid yet then.
          if (order === undefined) outrages.push(`${id} is completed and nobody has paid it`);
          else if ((await finalSum(order)) < order.amount) outrages.push(`${id} is completed and not final`);
        }
        seen += page.length;
        if (page.length < pageSize) return seen;
      }
    },
  };
};
