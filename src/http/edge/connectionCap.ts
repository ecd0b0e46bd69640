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

type Place = { readonly subject: string; isCounted: boolean };

/** Limits the connections of one client address to all listeners of this process together. */
export const createConnectionCap = ({ perAddress, trustedProxies, log }: ConnectionCapOptions): ConnectionCap => {
  const isTrusted = createAddressMatcher(trustedProxies);
  const places = new Map<string, Place>();
  const counts = new Map<string, number>();
  const warn = createRareWarning(log, 'an address has too many connections; further ones are refused');

  const count = (place: Place, isCounted: boolean): void => {
    if (place.isCounted === isCounted) return;
    place.isCounted = isCounted;
    const now = (counts.get(place.subject) ?? 0) + (isCounted ? 1 : -1);
    if (now > 0) counts.set(place.subject, now);
    else counts.delete(place.subject);
  };

  return {
    admit(socket) {
      const { remoteAddress = '' } = socket;
      if (isTrusted(remoteAddress)) return true;
      const subject = limitSubject(remoteAddress);
      if ((counts.get(subject) ?? 0) >= perAddress) {
        warn({ address: subject, connections: perAddress });
        return false;
      }
      const place: Place = { subject, isCounted: false };
      const ends = endsOf(socket);
      count(place, true);
      places.set(ends, place);
      socket.once('close', () => {
        count(place, false);
        if (places.get(ends) === place) places.delete(ends);
      });
      return true;
    },
    exempt(response) {
      const ends = endsOf(response.req.socket);
      const place = places.get(ends);
      if (!place || response.closed) return;
      count(place, false);
      response.once('close', () => {
        if (places.get(ends) === place) count(place, true);
      });
    },
  };
};
