import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '../../core/log.ts';
import { createRareWarning } from './rareWarning.ts';

/** What a listener ends by itself. None of it reaches the access log. */
export type ListenerWarnings = {
  /** In which step the client was too slow. */
  slow(socket: Duplex, step: 'first byte' | 'handshake' | 'request'): void;
  /** Why a request was answered, or its connection closed, before it had a route. */
  refused(socket: Duplex, reason: string): void;
};

const addressOf = (socket: Duplex): string | null => (socket as Socket).remoteAddress ?? null;

export const createListenerWarnings = (log: Log): ListenerWarnings => {
  const slow = createRareWarning(log, 'a client was too slow and was disconnected');
  const refused = createRareWarning(log, 'a request was refused before it had a route');
  return {
    slow: (socket, step) => slow({ address: addressOf(socket), step }),
    refused: (socket, reason) => refused({ address: addressOf(socket), reason }),
  };
};
