import type { ServerResponse } from 'node:http';
import { FlorinError } from '../core/errors.ts';

export type StreamLimits = {
  /** Streams of one client address at a time: many people may share one, but none of them needs hundreds. */
  readonly perAddress: number;
  readonly open: number;
  /** What may wait to be read by a client before it is dropped. */
  readonly waitingBytes: number;
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
  /** Refuses where there is no room. */
  admit(subject: string): Slot;
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
  const bySubject = new Map<string, number>();
  let taken = 0;
  let isStopped = false;

  const take = (subject: string): void => {
    const own = bySubject.get(subject) ?? 0;
    if (isStopped) throw new FlorinError('service_unavailable', 'The service is stopping. Try again shortly.');
    if (taken >= limits.open) throw new FlorinError('service_unavailable', 'Too many pages are open. Try again later.');
    if (own >= limits.perAddress) {
      throw new FlorinError('rate_limit_exceeded', 'Too many pages are open from your address. Close some of them.');
    }
    taken += 1;
    bySubject.set(subject, own + 1);
  };
  const release = (subject: string): void => {
    const own = bySubject.get(subject)! - 1;
    taken -= 1;
    if (own > 0) bySubject.set(subject, own);
    else bySubject.delete(subject);
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
    admit(subject) {
      take(subject);
      let isUsed = false;
      return {
        drop() {
          if (!isUsed) release(subject);
          isUsed = true;
        },
        open(response, onClose) {
          isUsed = true;
          const stream: Open = { response, wasWaiting: false };
          streams.add(stream);
          const close = (): void => {
            if (!streams.delete(stream)) return;
            release(subject);
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
