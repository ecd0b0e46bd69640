import { Agent, request } from 'node:https';

export type SiteAnswer = {
  readonly status: number;
  readonly text: string;
  /** The first cookie that was set, as a request sends it. */
  readonly cookie: string | null;
};

export type Site = {
  readonly origin: string;
  call(
    method: string,
    path: string,
    sending?: { body?: object; headers?: Record<string, string> },
  ): Promise<SiteAnswer>;
  close(): void;
};

const timeoutMs = 30_000;

/** A server on loopback, over connections that are kept. Fails only when the connection does. */
export const openSite = (url: string, ca: string): Site => {
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 8 });
  const { origin } = new URL(url);
  return {
    origin,
    call: (method, path, { body, headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? null : JSON.stringify(body);
        const sent = request(
          `${origin}${path}`,
          {
            method,
            agent,
            timeout: timeoutMs,
            headers: {
              ...(text === null
                ? {}
                : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
              ...headers,
            },
          },
          answer => {
            const chunks: Buffer[] = [];
            answer.on('data', (chunk: Buffer) => chunks.push(chunk));
            answer.once('error', reject);
            answer.once('end', () =>
              resolve({
                status: answer.statusCode!,
                text: Buffer.concat(chunks).toString('utf8'),
                cookie: answer.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? null,
              }),
            );
          },
        );
        sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
        sent.once('error', reject);
        sent.end(text ?? undefined);
      }),
    close: () => agent.destroy(),
  };
};
