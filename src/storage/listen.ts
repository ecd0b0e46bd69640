import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Log } from '../core/log.ts';
import type { ConnectionSettings } from './database.ts';

export type Listening = { stop(): Promise<void> };

const [shortestRestMs, longestRestMs] = [250, 10_000];
/** For a server that does not answer: whoever stops this must not wait for ever. */
const answerMs = 5_000;
const keepAliveMs = 30_000;

/**
 * Hears what is announced on a channel, on a connection of its own, and connects again when it is lost. Nothing may depend
 * on it: what is said while nobody hears is gone, and a pooler between may pass on nothing at all. `onConnected` is called
 * whenever something may have been missed.
 */
export const listen = (
  connection: ConnectionSettings,
  options: { channel: string; onHeard: (payload: string) => void; onConnected: () => void; log: Log },
): Listening => {
  const { channel, onHeard, onConnected, log } = options;
  const stopping = new AbortController();
  const hear = async (): Promise<void> => {
    const client = new pg.Client({
      ...connection,
      application_name: 'florin listener',
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      connectionTimeoutMillis: answerMs,
      query_timeout: answerMs,
    });
    const over = Promise.withResolvers<void>();
    client.on('error', () => over.resolve());
    client.on('end', () => over.resolve());
    client.on('notification', ({ payload }) => onHeard(payload ?? ''));
    const stop = (): void => over.resolve();
    stopping.signal.addEventListener('abort', stop, { once: true });
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      onConnected();
      if (!stopping.signal.aborted) await over.promise;
    } finally {
      stopping.signal.removeEventListener('abort', stop);
      await Promise.race([client.end().catch(() => undefined), pause(answerMs, undefined, { ref: false })]);
    }
  };
  const run = async (): Promise<void> => {
    let restMs = shortestRestMs;
    while (!stopping.signal.aborted) {
      const sinceMs = performance.now();
      try {
        await hear();
      } catch (error) {
        log.warn({ channel, err: error }, 'announcements of the database cannot be heard; it is asked instead');
      }
      restMs = performance.now() - sinceMs > longestRestMs ? shortestRestMs : Math.min(restMs * 2, longestRestMs);
      await pause(restMs, undefined, { signal: stopping.signal }).catch(() => undefined);
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
