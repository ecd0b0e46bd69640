import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import type { Florin } from '../../src/cli/florin.ts';
import type { Environment } from '../../src/core/environment.ts';

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape is what they test.
  readonly json: any;
};

export type Sending = {
  key?: string | null;
  environment?: Environment;
  /** An object is sent as JSON; a string or bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
};

export type TestClient = {
  call(method: string, path: string, sending?: Sending): Promise<Answer>;
  close(): Promise<void>;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Real HTTPS, verified against the local CA. Paths are as on the wire, /v1 included. */
export const createClient = async (florin: Florin): Promise<TestClient> => {
  const ca = await readFile(florin.caPath!, 'utf8');
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 64 });
  return {
    call: (method, path, { key = null, environment = 'sandbox', body, headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        const bytes =
          body === undefined ? null : Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
        const outgoing = request(
          `${florin.urls[environment]}${path}`,
          {
            method,
            agent,
            headers: {
              ...(key === null ? {} : { authorization: `Bearer ${key}` }),
              ...(bytes === null
                ? {}
                : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
              ...headers,
            },
          },
          incoming => {
            const chunks: Buffer[] = [];
            incoming.on('data', chunk => chunks.push(chunk));
            incoming.once('error', reject);
            incoming.once('end', () => {
              const text = Buffer.concat(chunks).toString('utf8');
              resolve({ status: incoming.statusCode!, headers: incoming.headers, text, json: parse(text) });
            });
          },
        );
        outgoing.once('error', reject);
        outgoing.end(bytes ?? undefined);
      }),
    async close() {
      agent.destroy();
    },
  };
};
