import type { ServerResponse } from 'node:http';
import { type ErrorCode, FlorinError } from '../../core/errors.ts';

export type StreamLimits = {
  readonly open: number;
  /** Unread bytes after which a client is disconnected. */
  readonly waitingBytes: number;
};

/** A counter with its own limit, for example per IP address. */
export type Share = {
  readonly name: string;
  readonly most: number;
  readonly code: ErrorCode;
  readonly refusal: string;
};

/** One client. Data sent after it disconnects is dropped. */
export type LiveStream = { send(text: string): void; end(): void };

/** A reserved place for one stream. */
export type Slot = {
  open(response: ServerResponse, onClose: () => void): LiveStream;
  /** Frees the slot. An open stream frees its slot when it ends. */
  drop(): void;
};

export type LiveStreams = {
  /** Throws if the total limit or one of the shares is used up. */
  admit(shares: readonly Share[]): Slot;
  /**
   * Sends a heartbeat to every client, so that proxies keep the connection open, and disconnects clients that do not
   * read.
   */
  beat(): void;
  stop(): void;
};

type Open = { readonly response: ServerResponse; wasWaiting: boolean };

/** An event, because scripts do not see comments. A script that gets none for a while knows that its stream is dead. */
const heartbeat = 'event: beat\ndata:\n\n';
/** Time until a client reconnects, in milliseconds. */
const greeting = 'retry: 2000\n\n';

/**
 * Server-sent events. A stream costs a connection and a small object. It has no timer and no queue: a client that does
 * not read is disconnected, and gets the current state when it reconnects.
 */
export const createLiveStreams = (limits: StreamLimits): LiveStreams => {
  const streams = new Set<Open>();
  const byShare = new Map<string, number>();
  let taken = 0;
  let isStopped = false;

  const take = (shares: readonly Share[]): void => {
    if (isStopped) throw new FlorinError('service_unavailable', 'The service is stopping. Try again shortly.');
    if (taken >= limits.open) throw new FlorinError('service_unavailable', 'Too many pages are open. Try again later.');
    const full = shares.find(({ name, most }) => (byShare.get(name) ?? 0) >= most);
    if (full) throw new FlorinError(full.code, full.refusal);
    taken += 1;
    for (const { name } of shares) byShare.set(name, (byShare.get(name) ?? 0) + 1);
  };
  const release = (shares: readonly Share[]): void => {
    taken -= 1;
    for (const { name } of shares) {
      const left = byShare.get(name)! - 1;
      if (left > 0) byShare.set(name, left);
      else byShare.delete(name);
    }
  };

  /** Never throws: an error of one client must not affect the others. */
  const write = ({ response }: Open, text: string): void => {
    try {
      if (response.writableLength > limits.waitingBytes) response.destroy();
      else if (response.writable) response.write(text);
    } catch {
      response.destroy();
    }
  };

  return {
    admit(shares) {
      take(shares);
      let isUsed = false;
      return {
        drop() {
          if (!isUsed) release(shares);
          isUsed = true;
        },
        open(response, onClose) {
          isUsed = true;
          const stream: Open = { response, wasWaiting: false };
          streams.add(stream);
          const close = (): void => {
            if (!streams.delete(stream)) return;
            release(shares);
            onClose();
          };
          response.once('close', close);
          response.on('error', () => response.destroy());
          if (isStopped || response.destroyed) response.destroy();
          else write(stream, greeting);
          // If the client left before this, there is no close event.
          if (response.closed) close();
          return {
            send: text => write(stream, text),
            end: () => void response.end(),
          };
        },
      };
    },
    beat() {
      for (const stream of streams) {
        const isWaiting = stream.response.writableLength > 0;
        if (isWaiting && stream.wasWaiting) stream.response.destroy();
        else if (!isWaiting) write(stream, heartbeat);
        stream.wasWaiting = isWaiting;
      }
    },
    stop() {
      isStopped = true;
      // The connection ends too: over the same one, the page would come back to this process.
      for (const { response } of streams) {
        const { socket } = response;
        response.end(() => socket?.destroySoon());
      }
    },
  };
};
