import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { backOffMs } from '../core/backOff.ts';
import type { Log } from '../core/log.ts';
import { type ConnectionSettings, createConnector } from './connect.ts';

export type Listening = { stop(): Promise<void> };

const [shortestDelayMs, longestDelayMs] = [250, 10_000];
/** Bounds querying and closing, so that `stop` returns even if the server does not answer. */
const answerTimeoutMs = 5_000;
const keepAliveMs = 30_000;

/**
 * Listens on a channel, on a connection of its own, and reconnects when it is lost. Notifications are a hint only:
 * those sent while disconnected are lost, and a pooler may drop all of them. `onConnected` is called after
 * every connection, because notifications may have been missed before it.
 */
export const listen = (
  connection: ConnectionSettings,
  options: { channel: string; onNotification: (payload: string) => void; onConnected: () => void; log: Log },
): Listening => {
  const { channel, onNotification, onConnected, log } = options;
  const stopping = new AbortController();
  const connector = createConnector(connection);
  const listenOnce = async (): Promise<void> => {
    const client = await connector.connect({
      application_name: 'florin listener',
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      query_timeout: answerTimeoutMs,
    });
    const ended = Promise.withResolvers<void>();
    client.on('error', () => ended.resolve());
    client.on('end', () => ended.resolve());
    client.on('notification', ({ payload }) => onNotification(payload ?? ''));
    const stop = (): void => ended.resolve();
    stopping.signal.addEventListener('abort', stop, { once: true });
    try {
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      onConnected();
      if (!stopping.signal.aborted) await ended.promise;
    } finally {
      stopping.signal.removeEventListener('abort', stop);
      await Promise.race([client.end().catch(() => undefined), pause(answerTimeoutMs, undefined, { ref: false })]);
    }
  };
  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const sinceMs = performance.now();
      try {
        await listenOnce();
      } catch (error) {
        log.warn({ channel, err: error }, 'cannot listen for database notifications; polling instead');
      }
      failures = performance.now() - sinceMs > longestDelayMs ? 1 : failures + 1;
      const delayMs = backOffMs(failures, shortestDelayMs, longestDelayMs, Math.random());
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
};
