import { atEndOfFile } from './endOfFile.ts';
import { launchRedis, launchSentinel, type RedisServer } from './redisProcess.ts';

export type { RedisServer } from './redisProcess.ts';

const untilEndOfFile = (server: RedisServer): RedisServer => {
  atEndOfFile(server.end);
  return server;
};

/** A real server on loopback that keeps nothing on disk. It ends with the test file at the latest. */
export const startRedis = async (...more: string[]): Promise<RedisServer> => untilEndOfFile(await launchRedis(...more));

export const startSentinel = async (server: RedisServer, more: readonly string[] = []): Promise<RedisServer> =>
  untilEndOfFile(await launchSentinel(server, more));
