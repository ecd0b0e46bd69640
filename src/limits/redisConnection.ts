import { createClient, ErrorReply } from '@redis/client';
import { errorWith } from '../core/errorCode.ts';
import type { RedisServer } from './redisUrl.ts';

/** What Florin uses of a client of the library. */
export type RedisClient = {
  readonly isReady: boolean;
  evalSha(sha1: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  sendCommand(command: string[]): Promise<unknown>;
  on(event: 'error' | 'end' | 'terminated', told: (error?: Error) => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
};

export type RedisConnection = {
  /** Throws the reason why there is no connection. */
  client(): RedisClient;
  /** Ends the present connection, or the attempt to open one. Another is opened soon. */
  drop(cause: Error): void;
  close(): void;
};

/** The first word of an error that the server answered, such as WRONGPASS; empty if it answered none. */
export const codeOfReply = (error: unknown): string =>
  error instanceof ErrorReply ? (/^[A-Z]+(?= )/.exec(error.message)?.[0] ?? '') : '';

/** Where the server does not let Florin in, it would only fill its log to ask often. */
export const isRefusal = (error: unknown): boolean => ['WRONGPASS', 'NOAUTH', 'NOPERM'].includes(codeOfReply(error));

const pauseMsAfter = (error: unknown): number => (isRefusal(error) ? 5_000 : 100 + Math.random() * 100);

const shortestPatienceMs = 500;
const longestPatienceMs = 4_000;

type Place = RedisServer['hosts'][number];
type Credentials = { readonly username: string | null; readonly password: string | null };

/** Opens one connection. It is not opened again when it ends. */
const connectTo = async (
  place: Place,
  { isEncrypted, database = 0 }: Pick<RedisServer, 'isEncrypted'> & { readonly database?: number },
  { username, password }: Credentials,
  signal: AbortSignal,
): Promise<RedisClient> => {
  signal.throwIfAborted();
  const client = createClient({
    socket: { ...place, ...(isEncrypted ? { tls: true as const } : {}), reconnectStrategy: false },
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(database === 0 ? {} : { database }),
    RESP: 2,
    // A user of an access list needs no commands but those that Florin sends.
    disableClientInfo: true,
    commandsQueueMaxLength: 10_000,
    // The library would make an AbortSignal with a timer for each command.
    commandOptions: { timeout: undefined as never },
  }) as unknown as RedisClient;
  const giveUp = (): void => client.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  // What fails says so by itself.
  client.on('error', () => {});
  try {
    await client.connect();
    // Where it is destroyed meanwhile, the library may not fail.
    signal.throwIfAborted();
    if (!client.isReady) throw errorWith('ECONNRESET', 'the connection was closed');
    return client;
  } catch (error) {
    client.destroy();
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
};

/** Asks one sentinel. If it does not know, the next attempt asks the next one. */
const askSentinel = async (
  { hosts, sentinel, isEncrypted }: RedisServer,
  turn: number,
  signal: AbortSignal,
): Promise<Place> => {
  const client = await connectTo(hosts[turn % hosts.length]!, { isEncrypted }, sentinel!, signal);
  const giveUp = (): void => client.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const answer = await client.sendCommand(['SENTINEL', 'get-master-addr-by-name', sentinel!.name]);
    if (!Array.isArray(answer)) throw errorWith('ENOENT', 'the sentinel knows no server of this name');
    return { host: String(answer[0]), port: Number(answer[1]) };
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', giveUp);
    client.destroy();
  }
};

export const openRedis = async (server: RedisServer, turn: number, signal: AbortSignal): Promise<RedisClient> => {
  const place = server.sentinel === null ? server.hosts[0]! : await askSentinel(server, turn, signal);
  return connectTo(place, server, server, signal);
};

/**
 * Keeps one connection open. The library could open it again by itself, but it would ask sentinels in another way, could
 * wait for a stopped server for ever, and would come back at once to one that closes every connection.
 */
export const keepRedisOpen = (server: RedisServer): RedisConnection => {
  const timeOut = errorWith('ETIMEDOUT', 'the server does not answer');
  let client: RedisClient | null = null;
  let cause: unknown = errorWith('ENOTCONN', 'there is no connection yet');
  let attempt = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let patienceMs = shortestPatienceMs;
  let turn = 0;
  let isClosed = false;

  const again = (error: unknown): void => {
    client = null;
    cause = error;
    if (!isClosed) timer = setTimeout(() => void open(), pauseMsAfter(error)).unref();
  };

  const open = async (): Promise<void> => {
    attempt = new AbortController();
    const late = setTimeout(() => attempt.abort(timeOut), patienceMs).unref();
    try {
      const opened = await openRedis(server, turn, attempt.signal);
      patienceMs = shortestPatienceMs;
      client = opened;
      const ended = (error?: Error): void => {
        // Later, so that what still waits for an answer is told the reason.
        setImmediate(() => opened.destroy());
        if (client === opened) again(error ?? errorWith('ECONNRESET', 'the connection was closed'));
      };
      opened.on('terminated', ended);
      opened.on('end', ended);
    } catch (error) {
      turn += 1;
      if (error === timeOut) patienceMs = Math.min(longestPatienceMs, patienceMs * 2);
      again(error);
    } finally {
      clearTimeout(late);
    }
  };

  const drop = (error: Error): void => {
    attempt.abort(error);
    const dropped = client;
    if (dropped === null) return;
    turn += 1;
    again(error);
    dropped.destroy();
  };
  void open();
  return {
    client() {
      if (client === null) throw cause;
      return client;
    },
    drop,
    close() {
      isClosed = true;
      clearTimeout(timer);
      drop(errorWith('ECANCELED', 'the connection was closed by Florin'));
    },
  };
};
