import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Ledger } from '../chaos/ledger.ts';
import { type Check, verifyTables } from '../chaos/verify.ts';
import type { ChainRpc } from '../sim/chainRpc.ts';
import { createChecker } from '../sim/checker.ts';
import { openTables } from '../sim/scene.ts';
import type { World } from '../sim/world.ts';
import { caip2, confirmations } from './chain.ts';
import type { Load } from './load.ts';
import type { Receiver } from './receiver.ts';

const settleTimeoutMs = 180_000;
const blockEveryMs = 1_000;
const shown = 20;

export type Checked = {
  readonly connection: pg.ClientConfig;
  readonly ledger: Ledger;
  readonly load: Load;
  readonly receiver: Receiver;
  readonly chain: { readonly rpc: ChainRpc; readonly world: World; readonly token: string };
};

type Ask = <T>(sql: string) => Promise<T[]>;

const paidCheck = async (ask: Ask, { load: { paid } }: Checked): Promise<Check> => {
  type Row = { id: string; status: string; confirmed: string; received: string; completions: number };
  const rows = await ask<Row>(
    `select p.id, p.status::text as status, p.amount_confirmed::text as confirmed, p.amount_received::text as received,
       (select count(*)::int from events e where e.payment_id = p.id and e.type = 'payment.completed') as completions
     from payments p`,
  );
  const problems = rows.flatMap(row => {
    const { id, status, confirmed, received, completions } = row;
    const sum = paid.get(id) ?? 0n;
    const isRight = sum > 0n ? status === 'completed' && completions === 1 : status === 'pending' && completions === 0;
    const isExact = BigInt(confirmed) === sum && BigInt(received) === sum;
    return isRight && isExact ? [] : [`${JSON.stringify(row)}, paid ${sum}`];
  });
  const known = new Set(rows.map(({ id }) => id));
  for (const id of paid.keys()) if (!known.has(id)) problems.push(`${id} was paid and is missing`);
  return {
    what: `${paid.size} paid payments were completed once, with exactly what was paid; the others wait`,
    problems,
  };
};

/** Every event arrived as it is stored, and nothing arrived that is not stored: it would have been lost. */
const eventCheck = async (ask: Ask, { receiver }: Checked): Promise<Check> => {
  const rows = await ask<{ id: string; hash: string }>(
    `select id, encode(sha256(convert_to(body, 'UTF8')), 'hex') as hash from events where payment_id is not null`,
  );
  const stored = new Map(rows.map(({ id, hash }) => [id, hash]));
  const lost = [...stored.keys()].filter(id => !receiver.heard.has(id)).map(id => `${id} never arrived`);
  const strange = [...receiver.heard].flatMap(([id, hashes]) => {
    if (!stored.has(id)) return [`${id} arrived and is not stored`];
    return hashes.size === 1 && hashes.has(stored.get(id)!) ? [] : [`${id} arrived with another body`];
  });
  const what = `${stored.size} events arrived in ${receiver.requests()} requests, and no others`;
  return { what, problems: [...lost, ...strange] };
};

const auditCheck = async (ask: Ask, { load: { acts } }: Checked): Promise<Check> => {
  const rows = await ask<{ description: string; times: number }>(
    `select detail #>> '{description,after}' as description, count(*)::int as times from audit_log
     where action = 'webhook.changed' group by 1`,
  );
  const times = new Map(rows.map(row => [row.description, row.times]));
  const lost = acts.filter(act => !times.has(act)).map(act => `${act} has no row`);
  const doubled = rows.filter(row => row.times !== 1).map(row => `${row.description} has ${row.times} rows`);
  return {
    what: `${acts.length} acknowledged acts have one row each in the audit log`,
    problems: [...lost, ...doubled],
  };
};

const untilDelivered = async (ask: Ask): Promise<void> => {
  const endMs = performance.now() + settleTimeoutMs;
  for (;;) {
    const [row] = await ask<{ left: number }>(
      `select count(*)::int as left from deliveries where status <> 'succeeded'`,
    );
    if (row!.left === 0 || performance.now() > endMs) return;
    await pause(500);
  }
};

/** A chain without new blocks is read no further than to the time of its last one. */
const whileMining = async ({ rpc, world }: Checked['chain'], work: Promise<void>): Promise<void> => {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  // It is awaited below.
  over.catch(() => {});
  while (!isOver) {
    await world.bury(rpc, 1);
    await pause(blockEveryMs);
  }
  await over;
};

const answers = ({ ledger }: Checked): Check[] => [
  { what: 'every refusal was 503', problems: ledger.outrages },
  {
    what: 'every request got an answer',
    problems: ledger.counts.has('unanswered') ? [`${ledger.counts.get('unanswered')} did not`] : [],
  },
];

/** What must hold in the end, by the tables, the chain, the receiver and the answers. */
export const checkAll = async (checked: Checked): Promise<Check[]> => {
  const { connection, ledger, chain } = checked;
  const { rpc, world, token } = chain;
  const tables = await openTables(connection, caip2);
  try {
    await whileMining(chain, tables.untilDecided(settleTimeoutMs));
    await world.bury(rpc, confirmations + 2);
    await tables.untilRead(() => world.headHash(rpc), settleTimeoutMs);
    const ask: Ask = async sql => (await tables.client.query(sql)).rows;
    await untilDelivered(ask);
    const options = { caip2, depth: confirmations, mayReverse: false, needsProof: true };
    const checker = createChecker({ ...options, chain: world.memory, listed: new Set([token]), ledger: world.ledger });
    const found = [
      ...answers(checked),
      ...(await verifyTables(connection, ledger)),
      await paidCheck(ask, checked),
      await eventCheck(ask, checked),
      await auditCheck(ask, checked),
      ...(await tables.inOneMoment(client => checker.check({ client, rpc, isSettled: true }))),
    ];
    return found.map(({ what, problems }) => ({ what, problems: problems.slice(0, shown) }));
  } finally {
    await tables.close();
  }
};
