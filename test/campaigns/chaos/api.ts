import { Agent, request } from 'node:https';

export type ApiAnswer = { readonly status: number; readonly replayed: boolean; readonly body: Record<string, unknown> };

export type Api = {
  /** Fails when the connection does: then nobody knows what became of the request. */
  call(method: string, path: string, options?: { body?: object; idempotencyKey?: string }): Promise<ApiAnswer>;
  close(): void;
};

const timeoutMs = 30_000;

export const createApi = (options: { url: string; ca: string; key: string; maxSockets?: number }): Api => {
  const agent = new Agent({ ca: options.ca, keepAlive: true, maxSockets: options.maxSockets ?? 16 });
  return {
    call: (method, path, { body, idempotencyKey } = {}) =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? null : JSON.stringify(body);
        const headers = {
          authorization: `Bearer ${options.key}`,
          ...(text === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        };
        const outgoing = request(`${options.url}${path}`, { method, agent, headers, timeout: timeoutMs }, incoming => {
          const chunks: Buffer[] = [];
          incoming.on('data', chunk => chunks.push(chunk));
          incoming.once('error', reject);
          incoming.once('end', () => {
            try {
              const parsed = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
              const replayed = incoming.headers['idempotent-replayed'] === 'true';
              resolve({ status: incoming.statusCode!, replayed, body: parsed });
            } catch (error) {
              reject(error);
            }
          });
        });
        outgoing.once('timeout', () => outgoing.destroy(new Error('no answer in time')));
        outgoing.once('error', reject);
        outgoing.end(text ?? undefined);
      }),
    close: () => agent.destroy(),
  };
};
