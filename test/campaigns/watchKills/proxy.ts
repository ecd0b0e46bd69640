import { connect, createServer, type Socket } from 'node:net';
import { createAnswerReader, createRequestReader, type Request } from './wire.ts';

/** A statement within the watcher's transaction, by its name and how often that came before. */
export type Step = { readonly statement: string; readonly occurrence: number };
export type Point = Step & {
  readonly when: 'before' | 'after';
  /** Only in a transaction that has had this statement. */
  readonly having?: string;
};

export type DatabaseProxy = {
  readonly port: number;
  /** Calls `onHit` once, at that point of the next transaction of the watcher that has it. */
  arm(point: Point, onHit: () => void): void;
  disarm(): void;
  /** Every step that transactions which applied blocks have had so far. */
  steps(): readonly Step[];
  stop(): Promise<void>;
};

/** Held by every transaction of the watcher, right after its begin. */
const chainLock = 'chain-lock';
const appliesBlocks = 'blocks-insert';

const occurrencesOf = (statements: readonly string[]): Step[] => {
  const counts = new Map<string, number>();
  return statements.map(statement => {
    const occurrence = (counts.get(statement) ?? 0) + 1;
    counts.set(statement, occurrence);
    return { statement, occurrence };
  });
};

/** Between Florin and PostgreSQL: lets everything pass and knows which statement of which transaction it is. */
export const startProxy = async (socketPath: string): Promise<DatabaseProxy> => {
  let armed: { point: Point; onHit: () => void } | null = null;
  const seen = new Map<string, Step>();
  const sockets = new Set<Socket>();

  /** A begin cannot be told from another before its second statement has come. */
  const isArmedFor = (transaction: readonly string[]): boolean => {
    if (armed === null) return false;
    const { point } = armed;
    const { statement, occurrence } = occurrencesOf(transaction).at(-1)!;
    const isWatchers = transaction.length === 1 || transaction[1] === chainLock;
    const isFit = point.having === undefined || transaction.includes(point.having);
    return isWatchers && isFit && statement === point.statement && occurrence === point.occurrence;
  };

  const serve = (client: Socket): void => {
    const server = connect(socketPath);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    const read = createRequestReader();
    let transaction: string[] | null = null;
    let isHeld = false;
    let isDead = false;

    const hit = (): void => {
      const onHit = armed?.onHit;
      armed = null;
      isDead = true;
      onHit?.();
      client.destroy();
      server.destroy();
    };

    const follow = (statement: string): void => {
      if (statement === 'begin') transaction = [];
      transaction?.push(statement);
      if (statement === 'commit' && transaction?.includes(appliesBlocks)) {
        for (const step of occurrencesOf(transaction)) seen.set(`${step.statement} ${step.occurrence}`, step);
      }
    };

    const pass = ({ statement, bytes }: Request): void => {
      if (isDead) return;
      follow(statement);
      if (transaction !== null && isArmedFor(transaction)) {
        if (armed!.point.when === 'before') {
          hit();
          return;
        }
        isHeld = true;
      }
      if (statement === 'commit' || statement === 'rollback') transaction = null;
      server.write(bytes);
    };

    const readAnswer = createAnswerReader();
    client.on('data', chunk => {
      for (const request of read(chunk)) pass(request);
    });
    server.on('data', chunk => {
      if (!isHeld) client.write(chunk);
      // The server has executed it, and the client will never know.
      else if (readAnswer(chunk)) hit();
    });
  };

  const listener = createServer(serve);
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as { port: number }).port,
    arm(point, onHit) {
      armed = { point, onHit };
    },
    disarm() {
      armed = null;
    },
    steps: () => [...seen.values()],
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise(resolve => listener.close(resolve));
    },
  };
};
