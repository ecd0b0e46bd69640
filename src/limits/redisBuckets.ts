import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient, createCluster, createSentinel, ErrorReply } from '@redis/client';
import { codeOf } from '../core/errorCode.ts';
import { decisionOf } from '../core/tokenBucket.ts';
import { bucketScript } from './bucketScript.ts';
import type { RedisServer } from './redisUrl.ts';
import type { RemoteBuckets } from './sharedLimiter.ts';

/** What server, sentinels and cluster have in common. */
type Client = {
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  on(event: 'error', told: (error: Error) => void): unknown;
  on(event: 'ready', told: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): unknown;
};

/** Short, because requests are counted apart until the connection is back. */
const longestPauseMs = 200;
const pauseOf = (tried: number): number =>
  Math.min(longestPauseMs, 20 * 2 ** Math.min(tried, 6)) * (0.5 + Math.random() / 2);

const optionsOf = ({ isEncrypted, username, password, database }: RedisServer) => ({
  socket: {
    ...(isEncrypted ? { tls: true as const } : {}),
    connectTimeout: 2_000,
    reconnectStrategy: pauseOf,
  },
  ...(username === null ? {} : { username }),
  ...(password === null ? {} : { password }),
  ...(database === 0 ? {} : { database }),
  RESP: 2 as const,
  // A user of an access list needs no commands but those of the script.
  disableClientInfo: true,
  // A request must not wait for a connection. It is counted in this process instead.
  disableOfflineQueue: true,
  commandsQueueMaxLength: 10_000,
});

const open = (server: RedisServer): Client => {
  const options = optionsOf(server);
  const { kind, hosts, master } = server;
  if (kind === 'sentinel') {
    return createSentinel({
      name: master!,
      sentinelRootNodes: [...hosts],
      nodeClientOptions: options,
      sentinelClientOptions: { socket: options.socket },
    }) as unknown as Client;
  }
  if (kind === 'cluster') {
    const { socket, ...rest } = options;
    return createCluster({
      rootNodes: hosts.map(place => ({ socket: { ...socket, ...place } })),
      defaults: { ...rest, socket },
    }) as unknown as Client;
  }
  return createClient({ ...options, socket: { ...options.socket, ...hosts[0]! } }) as unknown as Client;
};

/** The first word of an error reply, such as WRONGPASS. */
const codeOfReply = (error: unknown): string =>
  error instanceof ErrorReply ? (/^[A-Z]+(?= )/.exec(error.message)?.[0] ?? '') : '';

/** Buckets in Redis or Valkey. `deployment` keeps those of several deployments apart on one server. */
export const openRedisBuckets = (
  server: RedisServer,
  deployment: string,
  onReady: () => void,
  /** Requests that fail say so by themselves. */
  onError: (error: Error) => void = () => {},
): RemoteBuckets => {
  const sha1 = createHash('sha1').update(bucketScript).digest('hex');
  const start = (): Client => {
    const client = open(server);
    client.on('error', onError);
    client.on('ready', onReady);
    client.connect().catch(() => {});
    return client;
  };
  let client = start();

  const take: RemoteBuckets['take'] = async (subject, rate) => {
    const asked = {
      keys: [`florin:${deployment}:limit:${subject}`],
      arguments: [String(rate.perMinute), String(rate.burst)],
    };
    const answer = await client.evalSha(sha1, asked).catch(error => {
      // The server was started anew, or its scripts were removed.
      if (codeOfReply(error) !== 'NOSCRIPT') throw error;
      return client.eval(bucketScript, asked);
    });
    const [allowed, tokens, nowMs] = answer as [number, string, number];
    return decisionOf({ tokens: Number(tokens) }, rate, nowMs, allowed === 1);
  };
  return {
    take,
    reconnect() {
      client.destroy();
      client = start();
    },
    close: () => void client.destroy(),
  };
};

const patienceMs = 3_000;

/** Takes one token. Returns the code of the error that hinders it, or null. */
export const askRedis = async (server: RedisServer, deployment: string): Promise<string | null> => {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  let latest: unknown = null;
  const buckets = openRedisBuckets(server, deployment, resolve, error => {
    latest = error;
    // Of several hosts, another may do.
    if (server.hosts.length === 1) reject(error);
  });
  try {
    const outOfTime = pause(patienceMs, null, { ref: false }).then(() => Promise.reject(latest));
    await Promise.race([ready.then(() => buckets.take('doctor', { perMinute: 60, burst: 0 })), outOfTime]);
    return null;
  } catch (error) {
    return codeOf(error) || codeOfReply(error) || 'no answer in time';
  } finally {
    buckets.close();
  }
};
