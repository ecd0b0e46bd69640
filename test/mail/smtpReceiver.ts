import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';

/** What the server does with the mail of a connection. */
export const smtpMoods = [
  'accept',
  'busy',
  'refuse',
  'refuse person',
  'drop',
  'drop in data',
  'drop after data',
  'late',
  'silent',
] as const;
export type SmtpMood = (typeof smtpMoods)[number];

export type ReceivedMail = { readonly from: string; readonly to: readonly string[]; readonly source: string };

export type SmtpReceiver = {
  readonly port: number;
  /** Mails that were acknowledged or kept before the connection broke, in order. */
  readonly kept: ReceivedMail[];
  /** Mails that were answered with 554. */
  readonly refused: string[];
  /** What was said before and after the connection was encrypted, verbs only. */
  readonly said: { readonly verb: string; readonly isSecure: boolean }[];
  /** Users and passwords, as `name:password`. */
  readonly logins: string[];
  /** Asked before each mail. */
  mood: () => SmtpMood;
  /** How late the server is in the mood `late`. */
  lateMs: number;
  /** Connections. */
  open(): number;
  /** Ends all connections. */
  hangUp(): void;
  close(): Promise<void>;
};

export type SmtpSecurity = {
  /** `offered`: only after STARTTLS. */
  readonly tls: 'at once' | 'offered';
  readonly key: string;
  readonly cert: string;
};

type Dialogue = { mood: SmtpMood; from: string; to: string[]; isData: boolean; rest: string };

const addressIn = (line: string): string => /<([^>]*)>/.exec(line)?.[1] ?? '';

/** `name:password` of an AUTH PLAIN command. */
const loginIn = (line: string): string =>
  Buffer.from(line.split(' ')[2] ?? '', 'base64')
    .toString()
    .split('\0')
    .slice(1)
    .join(':');

/** A mail server on loopback. It speaks as much of SMTP as a sender needs. */
export const startSmtpReceiver = async (security: SmtpSecurity | null = null): Promise<SmtpReceiver> => {
  const sockets = new Set<Socket>();
  const keep = ({ from, to }: Dialogue, source: string): void => {
    receiver.kept.push({ from, to: [...to], source });
  };

  const answerCommand = (socket: Socket, dialogue: Dialogue, line: string): unknown => {
    const say = (text: string): boolean => socket.write(`${text}\r\n`);
    const { mood } = dialogue;
    const verb = line.slice(0, 4).toUpperCase();
    const isSecure = socket instanceof TLSSocket;
    receiver.said.push({ verb, isSecure });
    if (mood === 'silent') return undefined;
    if (verb === 'EHLO' && isSecure) return say('250-loopback\r\n250 AUTH PLAIN');
    if (verb === 'EHLO') return say(security === null ? '250 loopback' : '250-loopback\r\n250 STARTTLS');
    if (verb === 'STAR' && security !== null && !isSecure) {
      say('220 go on');
      socket.removeAllListeners('data');
      return converse(new TLSSocket(socket, { isServer: true, key: security.key, cert: security.cert }));
    }
    if (verb === 'AUTH') {
      receiver.logins.push(loginIn(line));
      return say('235 welcome');
    }
    if (verb === 'MAIL') {
      if (mood === 'drop') return socket.destroy();
      dialogue.from = addressIn(line);
      return say(mood === 'busy' ? '451 later, please' : '250 ok');
    }
    if (verb === 'RCPT') {
      const to = addressIn(line);
      if (mood === 'refuse person') return say(`550 <${to}> is unknown here`);
      dialogue.to.push(to);
      return say('250 ok');
    }
    if (verb === 'DATA') {
      dialogue.isData = true;
      return say('354 go on');
    }
    if (verb === 'QUIT') return socket.end('221 bye\r\n');
    return say(verb === 'STAR' ? '502 not here' : '250 ok');
  };

  const answerData = (socket: Socket, dialogue: Dialogue, source: string): unknown => {
    const { mood } = dialogue;
    if (mood === 'refuse') {
      receiver.refused.push(source);
      return socket.write('554 not wanted\r\n');
    }
    keep(dialogue, source);
    if (mood === 'drop after data') return socket.destroy();
    if (mood === 'late') return setTimeout(() => socket.write('250 kept\r\n'), receiver.lateMs);
    return socket.write('250 kept\r\n');
  };

  const converse = (socket: Socket): void => {
    const dialogue: Dialogue = { mood: receiver.mood(), from: '', to: [], isData: false, rest: '' };
    socket.on('error', () => {});
    socket.setEncoding('utf8');
    socket.on('data', chunk => {
      dialogue.rest += chunk;
      for (;;) {
        if (dialogue.isData && dialogue.mood === 'drop in data') {
          socket.destroy();
          return;
        }
        const end = dialogue.isData ? '\r\n.\r\n' : '\r\n';
        const at = dialogue.rest.indexOf(end);
        if (at < 0) return;
        const part = dialogue.rest.slice(0, at);
        dialogue.rest = dialogue.rest.slice(at + end.length);
        if (dialogue.isData) {
          dialogue.isData = false;
          answerData(socket, dialogue, part);
        } else answerCommand(socket, dialogue, part);
      }
    });
  };
  const greet = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    converse(socket);
    socket.write('220 loopback\r\n');
  };
  const server = security?.tls === 'at once' ? createTlsServer(security, greet) : createServer(greet);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const receiver: SmtpReceiver = {
    port: (server.address() as AddressInfo).port,
    kept: [],
    refused: [],
    said: [],
    logins: [],
    mood: () => 'accept',
    lateMs: 30,
    open: () => sockets.size,
    hangUp() {
      for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        receiver.hangUp();
      }),
  };
  return receiver;
};
