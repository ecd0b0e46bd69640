import type { ServerResponse } from 'node:http';
import { type ErrorCode, FlorinError } from '../core/errors.ts';

export type StreamLimits = {
  readonly open: number;
  /** What may wait to be read by a client before it is dropped. */
  readonly waitingBytes: number;
};

/** One of the shares that a stream is counted in, which has its own limit. */
export type Share = {
  readonly name: string;
  readonly most: number;
  readonly code: ErrorCode;
  readonly refusal: string;
};

/** One client that listens. What is sent after it has gone goes nowhere. */
export type LiveStream = { send(text: string): void; end(): void };

/** Room for one stream, taken before there is one. */
export type Slot = {
  open(response: ServerResponse, onClose: () => void): LiveStream;
  /** Gives the room back; an open stream does so by itself when it ends. */
  drop(): void;
};

export type LiveStreams = {
  /** Refuses where there is no room, in all or in one of these shares. */
  admit(shares: readonly Share[]): Slot;
  /** Says something to everybody, so that nothing on the way takes a connection for dead, and drops who does not read. */
  beat(): void;
  stop(): void;
};

type Open = { readonly response: ServerResponse; wasWaiting: boolean };

/** An event and not a comment, which no script hears: one that hears nothing for long knows that its stream is dead. */
const heartbeat = 'event: beat\ndata:\n\n';
/** How soon a client comes back, in milliseconds. */
const greeting = 'retry: 2000\n\n';

/**
 * Server-sent events, whatever they are about. A stream costs a connection and a small object: no timer, and no queue,
 * because a client that does not read is dropped. It comes back, and is told where things stand then.
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

  /** Never throws: what is wrong with one client must not keep a word from the others. */
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
          // A client that left before its stream was opened is not announced again.
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
      for (const { response } of streams) response.end();
    },
  };
};
