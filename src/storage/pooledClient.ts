import { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { Connector } from './connect.ts';

type Done = (error?: Error | null) => void;

/**
 * What pg.Pool takes for its clients. One of pg is bound to a host before it connects; this one finds the host when it
 * connects. It has what the pool uses of a client, and `query`.
 */
export const pooledClient = (connector: Connector, options: pg.ClientConfig): (new () => pg.ClientBase) => {
  class PooledClient extends EventEmitter {
    #client: pg.Client | null = null;
    #isEnded = false;
    /** The pool keeps a client whose connection works, and drops others. */
    _queryable = true;

    connect(done: Done): void {
      connector.connect(options).then(client => {
        if (this.#isEnded) {
          client.end().catch(() => {});
          return done(new Error('the connection was given up'));
        }
        this.#client = client;
        client.on('error', error => {
          this._queryable = false;
          this.emit('error', error);
        });
        done();
      }, done);
    }

    isConnected(): boolean {
      return this.#client !== null;
    }

    query(...asked: Parameters<pg.Client['query']>): unknown {
      return this.#client!.query(...asked);
    }

    end(done: () => void = () => {}): void {
      this.#isEnded = true;
      if (this.#client === null) done();
      else this.#client.end(done);
    }
  }
  return PooledClient as unknown as new () => pg.ClientBase;
};
