import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../chaos/api.ts';
import type { Random } from '../fuzz/random.ts';
import type { Intent, Shape, Sweep } from './spend.ts';
import type { Order } from './world.ts';

/** A currency of a network, as the API lists it. */
export type Asset = {
  readonly network: string;
  readonly symbol: string;
  readonly contract: string | null;
  readonly decimals: number;
};

export type Payment = { readonly id: string; readonly address: string; readonly createdAtHeight: number };

/** Something that a customer will send, not before so many rounds. */
type Due = { readonly intent: Intent; readonly notBefore: number };
/** A forwarder that the merchant will sweep, not before so many rounds. */
type DueSweep = Omit<Sweep, 'salts'> & { readonly salt: `0x${string}`; readonly notBefore: number };

const habits = [
  'exact',
  'split',
  'under',
  'topped up',
  'over',
  'thrice',
  'late',
  'late in part',
  'never',
  'stray',
  'dust',
] as const;
const shares = [0.36, 0.2, 0.06, 0.06, 0.08, 0.04, 0.06, 0.02, 0.02, 0.04, 0.06];
type Habit = (typeof habits)[number];

const habitOf = (luck: number): Habit => {
  let left = luck;
  for (const [at, share] of shares.entries()) {
    left -= share;
    if (left < 0) return habits[at]!;
  }
  return 'exact';
};

/** Rounds after which a payment of one second is over. */
const lateRounds = 20;
const [longSeconds, shortSeconds] = [86_400, 1];

/** The parts that a customer sends, each with the rounds it waits. */
const partsOf = (habit: Habit, amount: bigint, random: Random): { amount: bigint; wait: number }[] => {
  const half = amount / 2n;
  const soon = (): number => random.below(6);
  const later = (): number => lateRounds + random.below(20);
  switch (habit) {
    case 'exact':
    case 'stray':
      return [{ amount, wait: soon() }];
    case 'split': {
      const count = 2 + random.below(4);
      const part = amount / BigInt(count);
      const parts = Array.from({ length: count - 1 }, () => ({ amount: part, wait: soon() }));
      return [...parts, { amount: amount - part * BigInt(count - 1), wait: soon() }];
    }
    case 'under':
      return [{ amount: amount - 1n, wait: soon() }];
    case 'topped up':
      return [
        { amount: half, wait: soon() },
        { amount: amount - half, wait: later() },
      ];
    case 'over':
      return [{ amount: amount + amount / 50n + BigInt(1 + random.below(1000)), wait: soon() }];
    case 'thrice':
      return [0, 1, 2].map(() => ({ amount, wait: random.below(30) }));
    case 'late':
      return [{ amount, wait: later() }];
    case 'late in part':
      return [
        { amount: half, wait: 0 },
        { amount: amount - half, wait: later() },
      ];
    // Before the payment, with it, and after it: never told by itself.
    case 'dust':
      return [
        { amount: BigInt(1 + random.below(1000)), wait: soon() },
        { amount, wait: soon() },
        { amount: BigInt(1 + random.below(1000)), wait: later() },
      ];
    case 'never':
      return [];
  }
};

const decimalOf = (units: bigint, decimals: number): string => {
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
};

/** What sweeping the address of a payment takes. */
export type Origins = (paymentId: string) => Promise<{ readonly treasury: string; readonly salt: `0x${string}` }>;

const refusedForMs = 60_000;

/** A network whose nodes answer wrongly takes no payments for a moment. */
const createWhenUp = async (api: Api, body: object): ReturnType<Api['call']> => {
  const endMs = performance.now() + refusedForMs;
  for (;;) {
    const answer = await api.call('POST', '/v1/payments', { body });
    if (answer.status !== 503 || performance.now() > endMs) return answer;
    await pause(100);
  }
};

/** The share of token payments that are swept, some of them before all has arrived and some twice. */
const sweptShare = 0.5;

/** Merchants' payments, what their customers send for them, and what the merchants sweep. */
export const createCustomers = (assets: readonly Asset[], random: Random, originOf: Origins) => {
  const payments = new Map<string, Payment>();
  let due: Due[] = [];
  let dueSweeps: DueSweep[] = [];
  let planned = 0;
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

  const create = async (api: Api, round: number, height: number): Promise<void> => {
    const asset = random.pick(assets);
    const habit = habitOf(random.next());
    const units = BigInt(2_000 + random.below(1_000_000));
    const expiresIn = habit.startsWith('late') || habit === 'never' ? shortSeconds : longSeconds;
    const parts = partsOf(habit, units, random);
    const strayed = assets.find(({ contract }) => contract !== null && contract !== asset.contract)!;
    const { network, symbol: currency, decimals, contract } = asset;
    const body = { amount: decimalOf(units, decimals), currency, network, expiresIn };
    const answer = await createWhenUp(api, body);
    if (answer.status !== 200) throw new Error(`a payment could not be made: ${JSON.stringify(answer.body)}`);
    const payment = {
      id: String(answer.body.id),
      address: String(answer.body.address).toLowerCase(),
      createdAtHeight: height,
    };
    payments.set(payment.address, payment);
    count(habit);
    planned += parts.length;
    for (const { amount, wait } of parts) {
      const intent = { to: payment.address, contract: habit === 'stray' ? strayed.contract : contract, amount };
      due.push({ intent, notBefore: round + wait });
      if (intent.contract === null || random.next() > sweptShare) continue;
      const { treasury, salt } = await originOf(payment.id);
      dueSweeps.push({ treasury, contract: intent.contract, salt, notBefore: round + wait + random.below(6) });
    }
  };

  /** What is sent together: in one transaction of a contract, by itself, or in two transactions of one block. */
  const orderOf = (intents: readonly Intent[]): Order => {
    const shape: Shape = intents.length === 1 && random.next() < 0.7 ? 'plain' : 'contract';
    if (intents.length > 1 && random.next() < 0.25) {
      const middle = intents.length >> 1;
      return [
        { intents: intents.slice(0, middle), shape: 'contract' },
        { intents: intents.slice(middle), shape: 'contract' },
      ];
    }
    return [{ intents, shape }];
  };

  /** One transaction for each treasury and token. */
  const sweeps = (round: number, everything: boolean): Order[] => {
    const ready = dueSweeps.filter(each => everything || each.notBefore <= round);
    dueSweeps = dueSweeps.filter(each => !everything && each.notBefore > round);
    for (const _ of ready) count('sweep');
    return [...Map.groupBy(ready, ({ treasury, contract }) => `${treasury} ${contract}`).values()].map(some => {
      const [{ treasury, contract }] = some as [DueSweep];
      const salts = [...new Set(some.map(({ salt }) => salt))];
      return [{ intents: [], shape: 'sweep', sweep: { treasury, contract, salts } }];
    });
  };

  return {
    payments: payments as ReadonlyMap<string, Payment>,
    counts: counts as ReadonlyMap<string, number>,
    create,
    planned: () => planned,
    open: () => due.length,
    /** Takes what is due by now, in some transactions and the blocks between them. */
    orders(round: number, everything: boolean): (Order | null)[] {
      const ready = due.filter(each => everything || each.notBefore <= round).map(({ intent }) => intent);
      due = due.filter(each => !everything && each.notBefore > round);
      const orders: (Order | null)[] = [];
      for (let at = 0; at < ready.length; ) {
        const size = Math.min(random.pick([1, 1, 2, 5, 12]), ready.length - at);
        const intents = ready.slice(at, at + size);
        at += size;
        if (random.next() < 0.03) {
          count('failing transaction');
          orders.push([{ intents, shape: 'failing' }]);
        }
        orders.push(orderOf(intents));
        if (random.next() < 0.3) orders.push(null);
      }
      orders.push(...sweeps(round, everything));
      return orders.length > 0 ? orders : [null];
    },
  };
};

export type Customers = ReturnType<typeof createCustomers>;
