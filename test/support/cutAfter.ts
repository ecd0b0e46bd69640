import { connect, createServer, type Socket } from 'node:net';
import { createAnswerReader, createRequestReader } from '../campaigns/watchKills/wire.ts';
import { atEndOfFile } from './endOfFile.ts';

export type Cutter = {
  /** The database by way of this proxy. */
  readonly url: string;
  /**
   * Ends the next connection that runs this statement, once the server has committed it. Whoever asked never learns that.
   * Resolves when it is done.
   */
  cutAfter(statement: string): Promise<void>;
};

const endpointOf = (url: string): { path: string } | { host: string; port: number } => {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname);
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port || 5432}` } : { host, port: Number(port || 5432) };
};

/** Between Florin and PostgreSQL on loopback: lets everything pass, and ends connections between a commit and its answer. */
export const startCutter = async (databaseUrl: string): Promise<Cutter> => {
  let armed: { readonly statement: string; readonly done: () => void } | null = null;
  const sockets = new Set<Socket>();

  const serve = (client: Socket): void => {
    const server = connect(endpointOf(databaseUrl));
    for (const socket of [client, server]) {
      sockets.add(socket.on('error', () => {}));
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    const read = createRequestReader();
    const isAnswered = createAnswerReader();
    let isInTransaction = false;
    /** The statement came in the transaction that is open, so its commit is the one. */
    let isMeant = false;
    let onAnswer: (() => void) | null = null;
    const pass = (statement: string): void => {
      if (statement === 'begin') isInTransaction = true;
      if (armed?.statement === statement) isMeant = true;
      if (isMeant && armed !== null && (!isInTransaction || statement === 'commit')) {
        onAnswer = armed.done;
        armed = null;
      }
      if (statement === 'commit' || statement === 'rollback') isInTransaction = false;
      if (!isInTransaction) isMeant = false;
    };
    client.on('data', chunk => {
      for (const { statement, bytes } of read(chunk)) {
        pass(statement);
        server.write(bytes);
      }
    });
    server.on('data', chunk => {
      const isOver = isAnswered(chunk);
      if (onAnswer === null) client.write(chunk);
      else if (isOver) {
        client.destroy();
        server.destroy();
        onAnswer();
      }
    });
  };

  const listener = createServer(serve);
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve));
  atEndOfFile(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise(resolve => listener.close(resolve));
  });
  const { port } = listener.address() as { port: number };
  const { username, password, pathname } = new URL(databaseUrl);
  const secret = password === '' ? '' : `:${password}`;
  return {
    url: `postgres://${username}${secret}@127.0.0.1:${port}${pathname}`,
    cutAfter: statement =>
      new Promise<void>(done => {
        armed = { statement, done };
      }),
  };
};
