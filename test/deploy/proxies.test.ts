// @module-tag proxies
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { permissions } from '../../src/core/access/rights.ts';
import { openLive } from '../api/checkoutScene.ts';
import { ordinary } from '../api/paymentCalls.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import { createKey } from '../support/operator.ts';
import { type Outgoing, send } from '../support/send.ts';
import { eventually, until } from '../support/until.ts';
import { ports, startProxy } from './proxyProcess.ts';

/** The proxies connect from 127.0.0.1, which is trusted. Clients have another address. */
const client = '127.0.0.2';
const forged = '203.0.113.9';

let florin: TestFlorin;
let account: TestAccount;
let ca: string;
beforeAll(async () => {
  florin = await startTestFlorin({ env: { FLORIN_TRUSTED_PROXIES: '127.0.0.1' } });
  account = await florin.account();
  ca = readFileSync(florin.florin.caPath!, 'utf8');
});

const keyFor = async (address: string): Promise<string> => {
  const of = { accountId: account.id, environment: 'sandbox', name: 'test', scopes: permissions } as const;
  return (await createKey(florin.admin, { ...of, ipAllow: [address], expiresAt: null })).key;
};

describe.each(['nginx', 'caddy'] as const)('%s', name => {
  let address: string;
  let agent: Agent;
  const ask = (method: string, path: string, outgoing: Outgoing = {}) => {
    const headers = { host: `localhost:${ports.sandbox}`, ...outgoing.headers };
    return send(`https://${address}:${ports.sandbox}`, method, path, { ...outgoing, agent, headers });
  };

  beforeAll(async () => {
    const certificate = join(florin.config.dataDir, 'tls', 'server.pem');
    const proxy = startProxy(name, { ...florin.florin.urls, certificate });
    address = proxy.address;
    agent = new Agent({ ca, servername: 'localhost', localAddress: client, keepAlive: true });
    atEndOfFile(() => agent.destroy());
    await eventually(async () => {
      const { status } = await ask('GET', '/readyz').catch((error: Error) => ({
        status: `${error} ${proxy.output()}`,
      }));
      expect(status).toBe(200);
    });
  });

  test('a payment is created and completed, and an open page hears of it at once', async () => {
    const key = account.keys.sandbox;
    const { status, json: payment, text } = await ask('POST', '/v1/payments', { key, body: ordinary });
    expect(status, text).toBe(200);
    const url = `https://${address}:${ports.sandbox}/checkout/${payment.id}/live`;
    const headers = { host: `localhost:${ports.sandbox}` };
    const live = await openLive(url, { ca, servername: 'localhost', localAddress: client, headers });
    expect(live.status).toBe(200);
    await live.until(({ data }) => data.includes('data-state="waiting"'));
    const paid = await ask('POST', `/v1/sandbox/payments/${payment.id}/simulate`, { key, body: { outcome: 'paid' } });
    expect(paid.status, paid.text).toBe(200);
    await live.until(({ data }) => data.includes('data-state="completed"'));
    live.close();
    const read = await until(
      () => ask('GET', `/v1/payments/${payment.id}`, { key }),
      ({ json }) => json.status === 'completed',
    );
    expect(read.json.amountReceived).toBe(payment.amount);
  });

  test('Florin sees the address of the client, and not the one that it writes into a header', async () => {
    const [own, other] = [await keyFor(client), await keyFor(forged)];
    const headers = { 'x-forwarded-for': forged };
    expect((await ask('GET', '/v1/payments', { key: own, headers })).status).toBe(200);
    expect((await ask('GET', '/v1/payments', { key: other, headers })).status).toBe(403);
  });

  test('in clear, a call is refused and a page is redirected', async () => {
    const plain = `http://${address}:${ports.plain}`;
    const headers = { host: 'localhost' };
    expect((await send(plain, 'POST', '/v1/payments', { headers, body: ordinary })).status).toBe(403);
    const moved = await send(plain, 'GET', '/checkout/x?lang=de', { headers });
    expect([moved.status, moved.headers.location]).toEqual([301, 'https://localhost/checkout/x?lang=de']);
  });
});
