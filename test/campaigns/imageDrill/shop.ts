import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { send } from '../../support/send.ts';
import type { Container } from './container.ts';

export type Shop = {
  /** Creates a payment, pays it with test money, and waits until it is completed. Returns its id. */
  completePayment(): Promise<string>;
  stateOf(id: string): Promise<string>;
};

const completedTimeoutMs = 60_000;

/** A merchant of the sandbox, with the key of the first run. */
export const shopOf = (container: Container, dataDir: string, sandboxPort: number): Shop => {
  const base = `https://localhost:${sandboxPort}`;
  const secrets = readFileSync(`${dataDir}/first-run`, 'utf8');
  const outgoing = {
    ca: readFileSync(`${dataDir}/tls/ca.pem`, 'utf8'),
    key: /^sandbox_key (\S+)$/m.exec(secrets)![1]!,
  };
  const stateOf = async (id: string): Promise<string> => {
    const { status, text, json } = await send(base, 'GET', `/v1/payments/${id}`, outgoing);
    if (status !== 200) throw new Error(`the payment was answered with ${status}: ${text}`);
    return json.status;
  };
  return {
    stateOf,
    async completePayment() {
      const body = { amount: '25.00', currency: 'USDC', network: 'base' };
      const { status, text, json } = await send(base, 'POST', '/v1/payments', { ...outgoing, body });
      if (status !== 200) throw new Error(`a new payment was answered with ${status}: ${text}`);
      container.exec('florin', 'pay', json.id);
      for (const endMs = performance.now() + completedTimeoutMs; performance.now() < endMs; await pause(200)) {
        if ((await stateOf(json.id)) === 'completed') return json.id;
      }
      throw new Error(`the payment is ${await stateOf(json.id)}`);
    },
  };
};
