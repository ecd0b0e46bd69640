import { readFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import type { Florin } from '../../src/cli/florin.ts';
import type { Environment } from '../../src/core/environment.ts';
import { type Answer, type Outgoing, send } from './send.ts';

export type Sending = Pick<Outgoing, 'key' | 'body' | 'headers'> & { environment?: Environment };

export type TestClient = {
  call(method: string, path: string, sending?: Sending): Promise<Answer>;
  close(): Promise<void>;
};

/** Real HTTPS, verified against the local CA. Paths are as on the wire, /v1 included. */
export const createClient = async (florin: Florin): Promise<TestClient> => {
  const ca = await readFile(florin.caPath!, 'utf8');
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 64 });
  return {
    call: (method, path, { environment = 'sandbox', ...outgoing } = {}) =>
      send(florin.urls[environment], method, path, { ...outgoing, agent }),
    async close() {
      agent.destroy();
    },
  };
};
