import { createSocket } from 'node:dgram';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createResolveHost } from '../../src/webhooks/connect.ts';

const typeA = 1;
const serverFailure = 2;
const noSuchName = 3;

type Reply = { readonly code?: number; readonly data?: Buffer };

/** What the name server below says for each name; a name not listed is met with silence. */
const zone: Record<string, (type: number) => Reply> = {
  'both.example': type => ({ data: type === typeA ? Buffer.from([127, 0, 0, 1]) : loopback6 }),
  'four.example': type => (type === typeA ? { data: Buffer.from([127, 0, 0, 2]) } : {}),
  'half.example': type => (type === typeA ? { code: serverFailure } : { data: loopback6 }),
  'empty.example': () => ({}),
  'unknown.example': () => ({ code: noSuchName }),
  'broken.example': () => ({ code: serverFailure }),
};
const loopback6 = Buffer.from('00000000000000000000000000000001', 'hex');

const server = createSocket('udp4');

beforeAll(async () => {
  server.on('message', (query, from) => {
    const { name, type, question } = parseQuestion(query);
    const reply = zone[name.toLowerCase()]?.(type);
    if (reply === undefined) return;
    const header = Buffer.from([
      query[0]!,
      query[1]!,
      0x81,
      0x80 | (reply.code ?? 0),
      0,
      1,
      0,
      reply.data ? 1 : 0,
      0,
      0,
      0,
      0,
    ]);
    const record = reply.data
      ? Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, reply.data.length]), reply.data])
      : Buffer.alloc(0);
    server.send(Buffer.concat([header, question, record]), from.port, from.address);
  });
  await new Promise<void>(resolve => server.bind(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise<void>(resolve => server.close(() => resolve())));

const parseQuestion = (query: Buffer): { name: string; type: number; question: Buffer } => {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), question: query.subarray(12, at + 5) };
};

const resolveHost = (name: string, timeoutMs = 2_000) =>
  createResolveHost({ servers: [`127.0.0.1:${server.address().port}`], timeoutMs })(name);

describe('createResolveHost', () => {
  test('gives the addresses of both families, or of the one that answers', async () => {
    expect(await resolveHost('both.example')).toEqual(['127.0.0.1', '::1']);
    expect(await resolveHost('four.example')).toEqual(['127.0.0.2']);
    expect(await resolveHost('half.example')).toEqual(['::1']);
  });

  test('tells a name that does not exist from a lookup that failed', async () => {
    await expect(resolveHost('empty.example')).rejects.toMatchObject({ code: 'name_not_found' });
    await expect(resolveHost('unknown.example')).rejects.toMatchObject({ code: 'name_not_found' });
    await expect(resolveHost('broken.example')).rejects.toMatchObject({ code: 'name_lookup_failed' });
    await expect(resolveHost('silent.example', 50)).rejects.toMatchObject({ code: 'name_lookup_failed' });
  });
});
