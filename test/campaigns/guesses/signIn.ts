import { request } from 'node:https';

export type Site = { readonly url: string; readonly ca: string };
export type Given = {
  /** Of loopback: the address that the connection comes from. */
  readonly from: string;
  readonly body: object;
  readonly path?: string;
  /** The cookie of a device that is known. */
  readonly device?: string | null;
};
export type SignInAnswer = {
  readonly status: number;
  readonly retryAfterSeconds: number;
  readonly device: string | null;
};

const timeoutMs = 60_000;

/** One sign-in, as the dashboard sends it, over a connection of its own. */
export const signIn = ({ url, ca }: Site, { from, body, path = '/sign-in', device }: Given): Promise<SignInAnswer> =>
  new Promise((resolve, reject) => {
    const { origin, host, hostname, port } = new URL(url);
    const text = JSON.stringify(body);
    const headers = {
      host,
      origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...(device ? { cookie: device } : {}),
    };
    const sent = request(
      {
        ...{ host: '127.0.0.1', servername: hostname, port, ca, localAddress: from, headers, agent: false },
        ...{ method: 'POST', path: `/dashboard/api${path}`, timeout: timeoutMs },
      },
      answer => {
        answer.resume().once('error', reject);
        answer.once('end', () =>
          resolve({
            status: answer.statusCode!,
            retryAfterSeconds: Number(answer.headers['retry-after'] ?? 1),
            device: answer.headers['set-cookie']?.[1]?.split(';', 1)[0] ?? null,
          }),
        );
      },
    );
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.once('error', reject);
    sent.end(text);
  });
