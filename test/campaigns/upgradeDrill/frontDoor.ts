import { Agent, type RequestOptions, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../../src/core/errorCode.ts';

/** What clients see: every API process behind one address. It repeats only what met a closed idle connection. */
export type FrontDoor = {
  /** Puts a process under a name, which it keeps. Requests go there once its `/readyz` answers 200. */
  put(name: string, at: { readonly url: string; readonly ca: string }): void;
  /** Sends no more requests there, as one does by hand. Resolves when those that run have ended. */
  takeOut(name: string): Promise<void>;
  /** Resolves when the process behind a name is ready. */
  ready(name: string): Promise<void>;
  call(method: string, path: string, sending: { readonly key: string; readonly body?: object }): Promise<Answer>;
  readonly counts: { answered: number; repeated: number };
  close(): void;
};
export type Answer = { readonly status: number; readonly body: Record<string, unknown>; readonly by: string };

type Process = { url: string; agent: Agent; isReady: boolean; isOut: boolean; running: number };

const asksEveryMs = 200;
const timeoutMs = 20_000;
const lookMs = 20;

type Got = { readonly status: number; readonly text: string };

/** Rejects with whether the connection was an idle one that had been closed. */
const exchange = (url: string, options: RequestOptions, text: string | null): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { timeout: timeoutMs, ...options }, incoming => {
      const chunks: Buffer[] = [];
      incoming.on('data', chunk => chunks.push(chunk));
      incoming.once('error', reject);
      incoming.once('end', () => resolve({ status: incoming.statusCode!, text: Buffer.concat(chunks).toString() }));
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.once('error', error => reject(Object.assign(error, { wasIdle: sent.reusedSocket })));
    sent.end(text ?? undefined);
  });

const isClosedIdle = (error: unknown): boolean =>
  hasCode(error, 'ECONNRESET', 'EPIPE') && (error as { wasIdle?: boolean }).wasIdle === true;

export const createFrontDoor = (): FrontDoor => {
  const processes = new Map<string, Process>();
  const counts = { answered: 0, repeated: 0 };
  let turn = 0;
  let isClosed = false;

  const ask = async (each: Process): Promise<void> => {
    const isReady = await exchange(`${each.url}/readyz`, { agent: each.agent }, null).then(
      ({ status }) => status === 200,
      () => false,
    );
    each.isReady = isReady;
  };
  const watch = async (): Promise<void> => {
    while (!isClosed) {
      await Promise.all([...processes.values()].map(ask));
      await pause(asksEveryMs);
    }
  };
  void watch();

  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await pause(lookMs);
  };
  const isUsed = ({ isReady, isOut }: Process): boolean => isReady && !isOut;
  const choose = (): [string, Process] => {
    const ready = [...processes].filter(([, each]) => isUsed(each));
    if (ready.length === 0) throw new Error('no process is ready');
    return ready[turn++ % ready.length]!;
  };

  const call: FrontDoor['call'] = async (method, path, { key, body }) => {
    const text = body === undefined ? null : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${key}`,
      ...(text === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    for (;;) {
      const [by, process] = choose();
      process.running += 1;
      try {
        const got = await exchange(`${process.url}${path}`, { method, headers, agent: process.agent }, text);
        counts.answered += 1;
        return { status: got.status, body: JSON.parse(got.text) as Record<string, unknown>, by };
      } catch (error) {
        if (!isClosedIdle(error)) throw error;
        counts.repeated += 1;
      } finally {
        process.running -= 1;
      }
    }
  };

  return {
    put(name, { url, ca }) {
      processes.get(name)?.agent.destroy();
      const agent = new Agent({ ca, keepAlive: true, maxSockets: 64 });
      processes.set(name, { url, agent, isReady: false, isOut: false, running: 0 });
    },
    async takeOut(name) {
      const process = processes.get(name)!;
      process.isOut = true;
      await until(() => process.running === 0);
    },
    ready: name => until(() => processes.get(name)!.isReady),
    call,
    counts,
    close() {
      isClosed = true;
      for (const { agent } of processes.values()) agent.destroy();
    },
  };
};
