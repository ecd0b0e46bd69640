import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Attack, Target } from './attack.ts';

export type Answer = { readonly status: number; readonly headers: ReadonlyMap<string, string>; readonly body: string };

export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer; readonly surplus: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'hang' }
  /** Bytes came that are no HTTP answer. */
  | { readonly kind: 'noise'; readonly bytes: Buffer };

/** One answer at the start of the bytes and how long it is, or null while it is not whole. */
const readAnswer = (bytes: Buffer, isHead: boolean): { answer: Answer; length: number } | null => {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1] ?? 0);
  const headers = new Map(lines.map(line => [line.split(':', 1)[0]!.toLowerCase(), line.replace(/^[^:]*:\s*/, '')]));
  const bodyStart = headEnd + 4;
  if (status >= 100 && status < 200) {
    const final = readAnswer(bytes.subarray(bodyStart), isHead);
    return final && { answer: final.answer, length: bodyStart + final.length };
  }
  const size = isHead ? 0 : Number(headers.get('content-length'));
  if (bytes.length < bodyStart + size) return null;
  return {
    answer: { status, headers, body: bytes.toString('utf8', bodyStart, bodyStart + size) },
    length: bodyStart + size,
  };
};

export type Exchange = {
  /** Sends one request, on the connection of the one before where that is still good. */
  send(attack: Attack, timeoutMs: number): Promise<Outcome>;
  close(): void;
};

/** A client that writes any bytes at all, and believes of the answer only what it has read. */
export const createExchange = (target: Target): Exchange => {
  let kept: Socket | null = null;

  const open = (plain: boolean): Socket => {
    const place = { host: '127.0.0.1', port: target.port };
    const socket = plain
      ? connectPlain(place)
      : connectTls({ ...place, ca: target.ca, servername: 'localhost', ALPNProtocols: ['http/1.1'] });
    // A cut connection is an outcome, told by its close.
    socket.on('error', () => {});
    return socket;
  };

  const drop = (socket: Socket): void => {
    socket.destroy();
    if (kept === socket) kept = null;
  };

  const send = (attack: Attack, timeoutMs: number): Promise<Outcome> =>
    new Promise(resolve => {
      const reusable = !attack.plain && (attack.ending ?? 'stay') === 'stay';
      const socket = reusable && kept && !kept.destroyed ? kept : open(attack.plain ?? false);
      if (reusable) kept = socket;
      let received = Buffer.alloc(0);
      const settle = (outcome: Outcome, keep: boolean): void => {
        clearTimeout(timer);
        socket.off('data', onData);
        socket.off('close', onClose);
        if (!keep) drop(socket);
        resolve(outcome);
      };
      const onData = (chunk: Buffer): void => {
        received = Buffer.concat([received, chunk]);
        const read = readAnswer(received, attack.isHead ?? false);
        if (!read || read.answer.headers.get('connection') === 'close') return;
        if (reusable) settle({ kind: 'answer', answer: read.answer, surplus: received.length - read.length }, true);
      };
      const onClose = (): void => {
        const read = readAnswer(received, attack.isHead ?? false);
        if (read) settle({ kind: 'answer', answer: read.answer, surplus: received.length - read.length }, false);
        // A TLS alert in answer to what is no TLS is a way of closing.
        else if (received.length === 0 || (attack.plain && received[0] === 0x15)) settle({ kind: 'cut' }, false);
        else settle({ kind: 'noise', bytes: received }, false);
      };
      const timer = setTimeout(() => settle({ kind: 'hang' }, false), timeoutMs);
      socket.on('data', onData);
      socket.on('close', onClose);
      if (attack.ending === 'halfClose') socket.end(attack.wire);
      else if (attack.ending === 'vanish') socket.write(attack.wire, () => socket.destroy());
      else socket.write(attack.wire);
    });

  return { send, close: () => kept?.destroy() };
};
