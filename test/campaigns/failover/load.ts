import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../chaos/api.ts';
import type { Ledger, Order } from '../chaos/ledger.ts';
import { place, read, refused, settle } from '../chaos/load.ts';
import type { Random } from '../fuzz/random.ts';
import type { ChainRpc } from '../sim/chainRpc.ts';
import type { Intent } from '../sim/spend.ts';
import type { World } from '../sim/world.ts';
import { network } from './chain.ts';

/** A visit begins this often, whether earlier ones have been answered or not. */
const visitEveryMs = 200;
const mostAtOnce = 200;
const blockEveryMs = 1_000;
const transfersOfTransaction = 12;
const settleRounds = 20;
const usdcPerCent = 10_000n;

export type Load = {
  /** When creations were accepted, as performance.now() tells it. */
  readonly acceptedMs: readonly number[];
  /** What was sent to each payment, in base units, by its id. */
  readonly paid: ReadonlyMap<string, bigint>;
  /** Descriptions of the endpoint that were acknowledged: each is one row of the audit log. */
  readonly acts: readonly string[];
  refusals(): number;
  /** The answer that the caller waited for longest. */
  slowest(): Answered;
  /** Stops, repeats what has no answer yet, and pays what is left. */
  end(): Promise<void>;
};

export type Answered = { readonly what: string; readonly status: number; readonly waitedMs: number };

type Parts = {
  readonly apis: readonly Api[];
  readonly ledger: Ledger;
  readonly endpointId: string;
  readonly chain: { readonly rpc: ChainRpc; readonly world: World; readonly token: string };
  readonly random: Random;
};

const newOrder = (random: Random): Order => {
  const externalId = randomUUID();
  // The others are found again by their externalId alone.
  const idempotencyKey = random.next() < 0.7 ? `key-${externalId}` : null;
  const amount = `${1 + random.below(1_000)}.${String(random.below(100)).padStart(2, '0')}`;
  const metadata = { key: idempotencyKey };
  const body = { amount, currency: 'USDC', network, externalId, metadata, expiresIn: 86_400 };
  return { externalId, idempotencyKey, body };
};

/** Mostly all at once, sometimes in two parts, sometimes never. */
const partsOf = (amount: bigint, random: Random): bigint[] => {
  const luck = random.next();
  if (luck < 0.1) return [];
  if (luck < 0.3) return [amount / 3n, amount - amount / 3n];
  return [amount];
};

/** Notes each answer on its way. */
const observe = (api: Api, note: (answered: Answered) => void): Api => ({
  async call(method, path, options) {
    const sentMs = performance.now();
    const answer = await api.call(method, path, options);
    note({ what: `${method} ${path}`, status: answer.status, waitedMs: performance.now() - sentMs });
    return answer;
  },
  close: api.close,
});

/** What customers do: they pay on the chain what was acknowledged, whatever becomes of the database. */
const createPayers = ({ ledger, chain, random }: Parts) => {
  const paid = new Map<string, bigint>();
  let seen = 0;
  let due: Intent[] = [];
  const payOnce = async (): Promise<void> => {
    for (const { id, address, amount } of [...ledger.payments.values()].slice(seen)) {
      seen += 1;
      const units = BigInt(amount.replace('.', '')) * usdcPerCent;
      const parts = partsOf(units, random);
      if (parts.length > 0) paid.set(id, units);
      for (const part of parts) due.push({ to: address.toLowerCase(), contract: chain.token, amount: part });
    }
    const ready = due;
    due = [];
    const orders = [];
    for (let at = 0; at < ready.length; at += transfersOfTransaction) {
      const intents = ready.slice(at, at + transfersOfTransaction);
      orders.push([{ intents, shape: 'contract' as const }]);
    }
    await chain.world.mine(chain.rpc, [...orders, null]);
  };
  return { paid, payOnce };
};

/** An audited act. Each try has a text of its own, so that a row tells which try it belongs to. */
const actOnce = async (api: Api, { ledger, endpointId }: Parts, acts: string[]): Promise<void> => {
  const description = `act ${randomUUID()}`;
  const answer = await api.call('PATCH', `/v1/webhooks/${endpointId}`, { body: { description } });
  if (answer.status !== 200) return refused(ledger, 'act', answer);
  acts.push(description);
  ledger.acknowledge('act', { description });
};

export const startLoad = (parts: Parts): Load => {
  const { ledger, random } = parts;
  const acceptedMs: number[] = [];
  const acts: string[] = [];
  const payers = createPayers(parts);
  let [running, refusals] = [0, 0];
  let slowest: Answered = { what: 'none', status: 0, waitedMs: 0 };
  let isOver = false;
  const apis = parts.apis.map(api =>
    observe(api, answered => {
      const { what, status, waitedMs } = answered;
      if (waitedMs > slowest.waitedMs) slowest = answered;
      if (status === 503) refusals += 1;
      if (status === 200 && what === 'POST /v1/payments') acceptedMs.push(performance.now());
    }),
  );

  const visit = async (): Promise<void> => {
    const api = random.pick(apis);
    const luck = random.next();
    const old = luck < 0.4 ? ledger.unsettled.shift() : undefined;
    running += 1;
    try {
      if (old) await place(api, ledger, old);
      else if (luck < 0.8) await place(api, ledger, newOrder(random));
      else if (luck < 0.9) await actOnce(api, parts, acts);
      else await read(api, ledger, random);
    } catch {
      ledger.count('unanswered');
    } finally {
      running -= 1;
    }
  };
  const visits = setInterval(() => {
    if (running < mostAtOnce) void visit();
  }, visitEveryMs);
  const payAlways = async (): Promise<void> => {
    while (!isOver) {
      await payers.payOnce();
      await pause(blockEveryMs);
    }
  };
  const paying = payAlways();
  // It is awaited in the end.
  paying.catch(() => {});

  return {
    acceptedMs,
    paid: payers.paid,
    acts,
    refusals: () => refusals,
    slowest: () => slowest,
    async end() {
      clearInterval(visits);
      while (running > 0) await pause(visitEveryMs);
      for (let round = 0; round < settleRounds && ledger.unsettled.length > 0; round++) {
        await settle(random.pick(apis), ledger);
        await pause(visitEveryMs);
      }
      isOver = true;
      await paying;
      await payers.payOnce();
    },
  };
};
