import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Api, ApiAnswer } from '../chaos/api.ts';
import type { Random } from '../fuzz/random.ts';

/** Receives webhooks and answers with what it received, so that attempts have the texts, too. */
export const startEcho = async (): Promise<{ url: string; close(): Promise<void> }> => {
  const server = createServer((request, response) => request.pipe(response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
};

export type Made = { readonly id: string; readonly word: string };

const clients = 8;
/** PostgreSQL keeps such values in a table of their own. */
const longBytes = 4_000;
const ends = ['canceled', 'expired', 'completed'] as const;

const sameTime = async (count: number, work: (at: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: clients }, one));
};

const expectOk = ({ status, body }: ApiAnswer): Record<string, unknown> => {
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
};

export type Market = {
  readonly api: Api;
  readonly token: { readonly contract: string | null; readonly decimals: number };
  readonly callback: string;
  readonly random: Random;
  /** What each transaction was made to move. */
  readonly ledger: Map<string, { readonly to: string; readonly contract: string | null; readonly amount: bigint }[]>;
};

/** Payments that end in every way, each with its word in every text, and with kept answers. */
export const makePayments = async (
  { api, token, callback, random, ledger }: Market,
  { word, keys, count }: { readonly word: string; readonly keys: string; readonly count: number },
): Promise<Made[]> => {
  const made: Made[] = [];
  await sameTime(count, async at => {
    const own = `${word}${at}x`;
    const end = ends[at % ends.length];
    // Bytes that do not compress: PostgreSQL would hide the word in a compressed value.
    const filling = at % 5 === 0 ? random.bytes(longBytes).toString('base64') : '';
    const body = {
      ...{ amount: '5', currency: 'USDC', network: 'base', description: `Order of ${own}` },
      metadata: { name: own, more: { [own]: 1 }, filling: `${filling}${own}` },
      redirectUrl: `https://shop.example/thanks?name=${own}`,
      ...(at % 2 === 0 ? { callbackUrl: `${callback}/paid?name=${own}` } : {}),
      ...(end === 'expired' ? { expiresIn: 1 } : {}),
    };
    const created = expectOk(await api.call('POST', '/v1/payments', { body, idempotencyKey: `create-${keys}-${at}` }));
    const { id, address } = created as { id: string; address: string };
    made.push({ id, word: own });
    if (end === 'canceled')
      expectOk(await api.call('POST', `/v1/payments/${id}/cancel`, { idempotencyKey: `cancel-${keys}-${at}` }));
    if (end !== 'completed') return;
    const { transaction } = expectOk(
      await api.call('POST', `/v1/sandbox/payments/${id}/simulate`, { body: { outcome: 'paid' } }),
    );
    const amount = 5n * 10n ** BigInt(token.decimals);
    ledger.set(String(transaction), [{ to: address.toLowerCase(), contract: token.contract, amount }]);
  });
  return made;
};

/** Waits until every payment has ended and every event was delivered. */
export const untilEnded = async (client: pg.Client, timeoutMs: number): Promise<void> => {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const { rows } = await client.query(`select
      (select count(*)::int from payments where status in ('pending', 'confirming')) as open,
      (select count(*)::int from deliveries where status = 'scheduled') as waiting`);
    if (rows[0].open + rows[0].waiting === 0) return;
    if (performance.now() > endMs) throw new Error(`not over in time: ${JSON.stringify(rows[0])}`);
    await pause(200);
  }
};

/** Sends again what went to callbacks, with keys, so that the answers are kept. Returns how many there were. */
export const resendCallbacks = async (api: Api, payments: readonly Made[]): Promise<number> => {
  let resent = 0;
  await sameTime(payments.length, async at => {
    const { id } = payments[at]!;
    const { data: events } = expectOk(await api.call('GET', `/v1/events?paymentId=${id}`));
    for (const event of events as { id: string }[]) {
      const { data } = expectOk(await api.call('GET', `/v1/events/${event.id}/deliveries`));
      for (const delivery of (data as { id: string; endpointId: string | null }[]).filter(each => !each.endpointId)) {
        expectOk(await api.call('POST', `/v1/deliveries/${delivery.id}/resend`, { idempotencyKey: 'resend' }));
        resent += 1;
      }
    }
  });
  return resent;
};

/** What the API shows of each payment and of its events, as text. */
export const shownOf = async (api: Api, payments: readonly Made[]): Promise<Map<string, string>> => {
  const shown = new Map<string, string>();
  await sameTime(payments.length, async at => {
    const { id } = payments[at]!;
    const payment = JSON.stringify(expectOk(await api.call('GET', `/v1/payments/${id}`)));
    const events = JSON.stringify(expectOk(await api.call('GET', `/v1/events?paymentId=${id}`)));
    // The chain goes on.
    shown.set(id, `${payment.replaceAll(/("confirmations":(?:\{"current":)?)\d+/g, '$1N')} ${events}`);
  });
  return shown;
};
