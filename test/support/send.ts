import { type IncomingHttpHeaders, request as requestHttp } from 'node:http';
import { type Agent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { bareHost } from '../../src/webhooks/guard.ts';

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape is what they test.
  readonly json: any;
};

export type Outgoing = {
  ca?: string;
  key?: string | null;
  /** An object is sent as JSON; a string or bytes as they are. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Without a length, in chunks. */
  chunked?: boolean;
  /** Without one, the request has a connection of its own. */
  agent?: Agent;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** One request to exactly the address that is written; http: and https: alike. */
export const send = (base: string, method: string, path: string, outgoing: Outgoing = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { ca, key = null, body, headers = {}, chunked = false, agent = false } = outgoing;
    const asIs = Buffer.isBuffer(body) || typeof body === 'string';
    const bytes = body === undefined ? null : Buffer.from(asIs ? body : JSON.stringify(body));
    const { hostname } = new URL(base);
    const request = base.startsWith('https:') ? requestHttps : requestHttp;
    const sent = request(
      `${base}${path}`,
      {
        method,
        agent,
        // Node would take it from the Host header.
        ...(ca === undefined ? {} : { ca, servername: isIP(bareHost(hostname)) === 0 ? hostname : '' }),
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(bytes === null ? {} : { 'content-type': 'application/json' }),
          ...(bytes === null || chunked ? {} : { 'content-length': String(bytes.length) }),
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
    sent.once('error', reject);
    sent.end(bytes ?? undefined);
  });

/** The bytes as they are, over TLS, then our half closed; everything that comes back. */
export const sendRaw = (url: string, ca: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), ca, servername: 'localhost' }, () => socket.end(bytes));
    let text = '';
    socket.setEncoding('utf8').on('data', chunk => {
      text += chunk;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(text));
  });
