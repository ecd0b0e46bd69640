import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../core/log.ts';
import { createAddressMatcher, limitSubject } from './clientAddress.ts';
import { createRareWarning } from './rareWarning.ts';

export type ConnectionCap = {
  /** Returns false if the address has too many connections. Otherwise this one counts until it closes. */
  admit(socket: Socket): boolean;
  /** For a stream with a limit of its own: until it ends, its connection does not count here. */
  exempt(response: ServerResponse): void;
};

export type ConnectionCapOptions = {
  readonly perAddress: number;
  /** Not capped: their connections carry many clients. */
  readonly trustedProxies: readonly string[];
  readonly log: Log;
};

/** Names a connection. The socket of a TLS session is another object than the one that was accepted. */
export const endsOf = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): string =>
  `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;

/** What one connection has of the number of its address. */
export type Place = { count(isCounted: boolean): void };

/** Counts the connections of each client address. The place of a new one counts; null if its address has too many. */
export const createAddressPlaces = ({ perAddress, trustedProxies, log }: ConnectionCapOptions) => {
  const isTrusted = createAddressMatcher(trustedProxies);
  const counts = new Map<string, number>();
  const warn = createRareWarning(log, 'an address has too many connections; further ones are refused');
  const free: Place = { count() {} };
  return (remoteAddress: string): Place | null => {
    if (isTrusted(remoteAddress)) return free;
    const subject = limitSubject(remoteAddress);
    if ((counts.get(subject) ?? 0) >= perAddress) {
      warn({ address: subject, connections: perAddress });
      return null;
    }
    let isIn = false;
    const count = (isCounted: boolean): void => {
      if (isIn === isCounted) return;
      isIn = isCounted;
      const now = (counts.get(subject) ?? 0) + (isCounted ? 1 : -1);
      if (now > 0) counts.set(subject, now);
      else counts.delete(subject);
    };
    count(true);
    return { count };
  };
};

/** Limits the connections of one client address to all listeners of this process together. */
export const createConnectionCap = (options: ConnectionCapOptions): ConnectionCap => {
  const takePlace = createAddressPlaces(options);
  const places = new Map<string, Place>();
  return {
    admit(socket) {
      const place = takePlace(socket.remoteAddress ?? '');
      if (place === null) return false;
      const ends = endsOf(socket);
      places.set(ends, place);
      socket.once('close', () => {
        place.count(false);
        if (places.get(ends) === place) places.delete(ends);
      });
      return true;
    },
    exempt(response) {
      const ends = endsOf(response.req.socket);
      const place = places.get(ends);
      if (!place || response.closed) return;
      place.count(false);
      response.once('close', () => {
        if (places.get(ends) === place) place.count(true);
      });
    },
  };
};
