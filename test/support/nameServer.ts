import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The name of a question, and where its type begins. */
const readName = (message: Buffer): { name: string; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
};

const typeA = 1;

export type NameServer = { readonly records: Map<string, string>; readonly port: number; close(): void };

/** A name server on loopback: a table of names and addresses of IPv4. */
export const startNameServer = async (port: number): Promise<NameServer> => {
  const records = new Map<string, string>();
  const socket = createSocket('udp4', (question, asker) => {
    const { name, end } = readName(question);
    const found = records.get(name);
    const isAnswered = found !== undefined && question.readUInt16BE(end) === typeA;
    const header = Buffer.from(question.subarray(0, 12));
    header.writeUInt16BE(found === undefined ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(isAnswered ? 1 : 0, 6);
    header.writeUInt32BE(0, 8);
    const parts = [header, question.subarray(12, end + 4)];
    // Points to the name of the question: type A, class IN, for a second, four bytes.
    if (isAnswered)
      parts.push(Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, ...found.split('.').map(Number)]));
    socket.send(Buffer.concat(parts), asker.port, asker.address);
  });
  socket.bind(port, '127.0.0.1');
  await once(socket, 'listening');
  return { records, port: socket.address().port, close: () => socket.close() };
};
