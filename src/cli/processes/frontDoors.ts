import { EventEmitter } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Log } from '../../core/log.ts';
import { createAddressPlaces, type Place } from '../../http/edge/connectionCap.ts';
import { listenOnAll } from '../../http/edge/listenOnAll.ts';
import { createRareWarning } from '../../http/edge/rareWarning.ts';
import { type Config, ConfigError } from '../config.ts';
import type { Ports } from '../listeners.ts';
import { portProblem } from '../refuseTakenPorts.ts';
import type { Connection, ConnectionNews } from './messages.ts';

/** Connections that wait while no process is free. */
const mostWaiting = 1_024;
/** At a stop, connections that were accepted are dealt out within this time. */
export const longestSettleMs = 1_000;

type Waiting = { readonly port: number; readonly socket: Socket; readonly place: Place };

/** A process that connections are given to. */
export type Taker = {
  tell(news: ConnectionNews): void;
  /** It has ended, and its connections with it. */
  leave(): void;
};

/** Deals connections out to processes, in turn. One that has not taken its last connection gets no other. */
export const createDealer = ({ connectionsPerAddress: perAddress, trustedProxies }: Config, log: Log) => {
  const takePlace = createAddressPlaces({ perAddress, trustedProxies, log });
  const warnFull = createRareWarning(log, 'connections were refused: no process took them');
  const waiting: Waiting[] = [];
  const free: ((next: Waiting) => void)[] = [];
  let count = 0;
  /** Connections that wait or are on their way. */
  let untaken = 0;
  const settled = new EventEmitter();
  const remove = (connections: number): void => {
    untaken -= connections;
    if (untaken === 0) settled.emit('settled');
  };
  const deal = (): void => {
    while (free.length > 0 && waiting.length > 0) free.shift()!(waiting.shift()!);
  };
  return {
    accept(port: number, socket: Socket): void {
      socket.on('error', () => {});
      const place = takePlace(socket.remoteAddress ?? '');
      if (place === null) return void socket.destroy();
      if (waiting.length === mostWaiting) {
        warnFull({ connections: mostWaiting });
        place.count(false);
        return void socket.destroy();
      }
      untaken += 1;
      waiting.push({ port, socket, place });
      deal();
    },
    /** `give` sends a connection to the process. */
    enter(give: (connection: Connection, socket: Socket) => void): Taker {
      const held = new Map<number, Place>();
      const given = new Map<number, Waiting>();
      let hasLeft = false;
      const take = (next: Waiting): void => {
        count += 1;
        held.set(count, next.place);
        given.set(count, next);
        give({ kind: 'connection', id: count, port: next.port }, next.socket);
      };
      const release = (id: number): void => {
        held.get(id)?.count(false);
        held.delete(id);
      };
      free.push(take);
      deal();
      return {
        tell({ taken, closed, counted }) {
          // Its last messages may come after its end.
          if (hasLeft) return;
          for (const [id, isCounted] of counted) held.get(id)?.count(isCounted);
          for (const id of closed) release(id);
          for (const id of taken) {
            // The other process has it now. Nothing was read here.
            given.get(id)?.socket.destroy();
            if (given.delete(id)) remove(1);
            free.push(take);
          }
          deal();
        },
        leave() {
          hasLeft = true;
          const at = free.indexOf(take);
          if (at >= 0) free.splice(at, 1);
          // What it has not taken goes to another one, before those that came later.
          for (const id of given.keys()) held.delete(id);
          waiting.unshift(...given.values());
          for (const id of [...held.keys()]) release(id);
          deal();
        },
      };
    },
    /** Resolves once processes have taken all connections, or after this time. */
    async settle(longestMs: number): Promise<void> {
      if (untaken === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, longestMs);
      settled.once('settled', resolve);
      await promise;
      clearTimeout(timer);
      settled.off('settled', resolve);
    },
    close(): void {
      const rest = waiting.splice(0);
      for (const { socket, place } of rest) {
        place.count(false);
        socket.destroy();
      }
      remove(rest.length);
    },
  };
};

export type Dealer = ReturnType<typeof createDealer>;

/**
 * Binds the ports of the API. They stay bound while processes are replaced, so no other program can take them, and connections
 * wait instead of being refused.
 */
export const openFrontDoors = async (config: Config, dealer: Dealer, log: Log) => {
  const servers: Server[] = [];
  /** Its callback would wait for the connections of other processes. */
  const shut = (): void => {
    for (const server of servers.splice(0)) server.close();
  };
  const close = (): void => {
    shut();
    dealer.close();
  };
  /** Accepts no more, and lets processes take what was accepted. */
  const settle = (): Promise<void> => {
    shut();
    return dealer.settle(longestSettleMs);
  };
  const bind = async (wanted: number): Promise<number> => {
    let port = wanted;
    const create = (): Server =>
      createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, socket => dealer.accept(port, socket));
    try {
      const bound = await listenOnAll({ createServer: create, port, hosts: config.hosts, log });
      servers.push(...bound.servers);
      port = bound.port;
      return port;
    } catch (error) {
      const problem = portProblem(error, wanted);
      throw problem === null ? error : new ConfigError([problem]);
    }
  };
  try {
    const { production: wanted, sandbox } = config.ports;
    const production = await bind(wanted);
    const isShared = wanted === sandbox && wanted !== 0;
    const ports: Ports = {
      production,
      sandbox: isShared ? production : await bind(sandbox),
      dashboard: config.dashboard.port === null ? null : await bind(config.dashboard.port),
    };
    return { ports, settle, close };
  } catch (error) {
    close();
    throw error;
  }
};

export type FrontDoors = Awaited<ReturnType<typeof openFrontDoors>>;
