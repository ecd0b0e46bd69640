import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { ensureLocalCertificates } from '../../src/local/localCa.ts';
import { type ConnectionSafety, connectionSafety } from '../../src/storage/connectionSafety.ts';
import { openDatabase } from '../../src/storage/database.ts';

let room: string;
let tls: { key: string; cert: string; caPath: string };
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), 'florin-tls-'));
  tls = await ensureLocalCertificates({ dataDir: room });
});
afterAll(() => rm(room, { recursive: true, force: true }));

const variables = ['PGHOST', 'PGSSLMODE'] as const;

describe('of a URL', () => {
  test.each<[ConnectionSafety, string]>([
    ['local', 'postgres://u:p@localhost/x'],
    ['local', 'postgres://u:p@LOCALHOST:5433/x'],
    ['local', 'postgres://u:p@127.0.0.1/x'],
    ['local', 'postgres://u:p@127.8.9.10/x'],
    ['local', 'postgres://u:p@[::1]:5432/x'],
    ['local', 'postgres://u:p@%2Fvar%2Frun%2Fpostgresql/x'],
    ['local', 'postgres:///x?host=/var/run/postgresql'],
    ['local', 'postgres://u:p@localhost:1/x?host=%2Fvar%2Frun'],
    ['local', 'postgres:///x'],
    ['local', 'postgres://u:p@localhost/x?sslmode=disable'],
    ['plain', 'postgres://u:p@db.example/x'],
    ['plain', 'postgres://u:p@10.0.0.1/x'],
    ['plain', 'postgres://u:p@[fd00::1]/x'],
    ['plain', 'postgres://u:p@db.localhost/x'],
    ['plain', 'postgres://u:p@localhost.example/x'],
    ['plain', 'postgres://u:p@127.0.0.1.example/x'],
    ['plain', 'postgres://u:p@127.1/x'],
    ['plain', 'postgres://u:p@0.0.0.0/x'],
    ['plain', 'postgres://u:p@localhost,db.example/x'],
    ['plain', 'postgres://u:p@localhost:1,db.example:2/x'],
    ['plain', 'postgres://u:p@db.example,localhost/x?sslmode=disable'],
    ['plain', 'postgres://u:p@db.example:1,db2.example:2/x'],
    ['plain', 'postgres://u:p@localhost/x?host=db.example'],
    ['plain', 'postgres://u:p@localhost/x?host=db.example&host=localhost'],
    ['plain', 'postgres://u:p@db.example/x?host=localhost'],
    ['plain', 'postgres:///x?host=db.example'],
    ['plain', 'postgres://u:p@db.example/x?sslmode=disable'],
    ['plain', 'postgres://u:p@db.example/x?sslmode=allow'],
    ['plain', 'postgres://u:p@db.example/x?sslmode=prefer'],
    ['plain', 'postgres://u:p@db.example/x?sslmode=REQUIRE'],
    ['plain', 'postgres://u:p@db.example/x?sslmode='],
    ['plain', 'postgres://u:p@db.example/x?ssl=true'],
    ['plain', 'postgres://u:p@db.example/x?ssl=no-verify'],
    ['plain', 'postgres://u:p@db.example/x?sslmode=verify-full&sslmode=disable'],
    ['plain', 'postgres://u:p@db.example/x?sslmode=disable&sslmode=verify-full'],
    ['unverified', 'postgres://u:p@db.example/x?sslmode=no-verify'],
    ['unverified', 'postgres://u:p@db.example/x?uselibpqcompat=true&sslmode=require'],
    ['unverified', 'postgres://u:p@db.example/x?uselibpqcompat=true&sslmode=prefer'],
    ['unverified', 'postgres://u:p@localhost/x?host=db.example&sslmode=no-verify'],
    ['unverified', 'postgres://u:p@localhost:1,db.example:2/x?sslmode=no-verify'],
    ['local', 'postgres://u:p@localhost:1,[::1]:2/x'],
    ['verified', 'postgres://u:p@localhost:1,db.example:2/x?sslmode=verify-full'],
    ['verified', 'postgres://u:p@db.example:1,db2.example:2/x?sslmode=verify-full'],
    ['verified', 'postgres://u:p@db.example/x?sslmode=require'],
    ['verified', 'postgres://u:p@db.example/x?sslmode=verify-ca'],
    ['verified', 'postgres://u:p@db.example/x?sslmode=verify-full'],
    ['verified', 'postgres://u:p@db.example/x?ssl=0&sslmode=verify-full'],
    ['verified', 'postgres://u:p@db.example/x?uselibpqcompat=true&sslmode=verify-full'],
    ['verified', 'postgresql://u:p@localhost/x?host=db.example&sslmode=verify-full'],
  ])('%s: %s', (safety, url) => {
    expect(connectionSafety(url)).toBe(safety);
  });

  test('with an authority of its own', () => {
    const at = `postgres://u:p@db.example/x?sslrootcert=${encodeURIComponent(tls.caPath)}`;
    expect(connectionSafety(`${at}&uselibpqcompat=true&sslmode=require`)).toBe('verified');
    expect(connectionSafety(`${at}&uselibpqcompat=true&sslmode=verify-ca`)).toBe('verified');
    expect(connectionSafety(at)).toBe('plain');
    expect(() => connectionSafety('postgres://u:p@db.example/x?uselibpqcompat=true&sslmode=verify-ca')).toThrow();
  });

  test('depends on the variables that pg reads', () => {
    const before = variables.map(name => process.env[name]);
    try {
      process.env.PGHOST = 'db.example';
      expect(connectionSafety('postgres:///x')).toBe('plain');
      expect(connectionSafety('postgres://u:p@localhost/x')).toBe('local');
      process.env.PGSSLMODE = 'verify-full';
      expect(connectionSafety('postgres:///x')).toBe('plain');
    } finally {
      for (const [index, name] of variables.entries()) {
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
      }
    }
  });
});

type Server = {
  readonly port: number;
  readonly plain: () => Buffer;
  readonly secret: () => Buffer;
  stop(): Promise<void>;
};

/** The beginning of a PostgreSQL server: it answers whether it has TLS, keeps what follows, and says no more. */
const startServer = async (hasTls: boolean, address = '127.0.0.1'): Promise<Server> => {
  const plain: Buffer[] = [];
  const secret: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => {}));
    socket.on('data', bytes => plain.push(bytes));
    socket.once('data', () => {
      if (!hasTls) return socket.write('N');
      socket.removeAllListeners('data');
      socket.write('S');
      const secured = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(tls) });
      secured
        .on('error', () => {})
        .on('data', bytes => {
          secret.push(bytes);
          secured.end();
        });
    });
  });
  await new Promise<void>(resolve => server.listen(0, address, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    plain: () => Buffer.concat(plain),
    secret: () => Buffer.concat(secret),
    stop: () =>
      new Promise<void>(resolve => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
};

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** What a server gets from a connection, which fails in each case. */
const connectTo = async (parameters: string, hasTls: boolean): Promise<Pick<Server, 'plain' | 'secret'>> => {
  const server = await startServer(hasTls);
  const connectionString = `postgres://ann:s3cret@127.0.0.1:${server.port}/florin?${parameters}`;
  const db = openDatabase({ connectionString }, { log: silentLog, maxConnections: 1 });
  await expect(db.script('select 1')).rejects.toThrow();
  await db.close();
  await server.stop();
  return server;
};

describe('of a connection', () => {
  const accepted = ['sslmode=require', 'sslmode=verify-ca', 'sslmode=verify-full'];

  test.each(accepted)('with %s, a server without TLS gets no name and no password', async mode => {
    expect(connectionSafety(`postgres://u:p@db.example/x?${mode}`)).toBe('verified');
    expect((await connectTo(mode, false)).plain()).toEqual(sslRequest);
  });

  test.each(accepted)('with %s, a server with an unknown certificate gets nothing', async mode => {
    const { plain, secret } = await connectTo(mode, true);
    expect(plain()).toEqual(sslRequest);
    expect(secret().length).toBe(0);
  });

  test('with the authority of the certificate, the name of the user is sent over TLS only', async () => {
    const ca = encodeURIComponent(tls.caPath);
    const { plain, secret } = await connectTo(`sslmode=verify-full&sslrootcert=${ca}`, true);
    expect(plain()).toEqual(sslRequest);
    expect(secret().toString('latin1')).toContain('user\0ann\0');
  });

  test('each host of a list has to have its own name in its certificate', async () => {
    const [named, unnamed] = [await startServer(true), await startServer(true, '127.0.0.2')];
    const hosts = `127.0.0.2:${unnamed.port},127.0.0.1:${named.port}`;
    const ca = encodeURIComponent(tls.caPath);
    const connectionString = `postgres://ann:s3cret@${hosts}/florin?sslmode=verify-full&sslrootcert=${ca}`;
    const db = openDatabase({ connectionString }, { log: silentLog, maxConnections: 1 });
    await expect(db.script('select 1')).rejects.toThrow();
    await db.close();
    await Promise.all([named.stop(), unnamed.stop()]);
    expect(unnamed.plain()).toEqual(sslRequest);
    expect(unnamed.secret().length).toBe(0);
    expect(named.plain()).toEqual(sslRequest);
    expect(named.secret().toString('latin1')).toContain('user\0ann\0');
  });
});
