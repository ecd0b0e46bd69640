import type { ServerResponse } from 'node:http';
import { FlorinError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ReplyStream } from '../edge/route.ts';

/** Exports per person. A slow download blocks only the person's own next exports. */
const mostEach = 2;
const retryAfterSeconds = 10;

export type CsvReader = {
  readonly personId: string;
  /** Checked before each chunk, so that a download stops when the person loses access. */
  mayRead(): Promise<boolean>;
};

/** Resolves once the client has taken the buffered data or is gone. The listener disconnects clients that do not read. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise(resolve => {
    const settle = (): void => {
      response.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    response.once('drain', settle);
    response.once('close', settle);
  });

type Ending = 'whole' | 'gone' | 'forbidden';

/** Reads the next chunk only after the client took the last one, so memory holds one chunk for a file of any size. */
const send = async (response: ServerResponse, reader: CsvReader, pieces: AsyncIterable<string>): Promise<Ending> => {
  for await (const piece of pieces) {
    if (response.destroyed) return 'gone';
    if (!(await reader.mayRead())) return 'forbidden';
    if (!response.write(piece)) await drained(response);
  }
  return response.destroyed ? 'gone' : 'whole';
};

export type CsvStreams = (reader: CsvReader, pieces: () => AsyncIterable<string>) => ReplyStream;

/** Streams CSV files, with a limit of concurrent exports per person. */
export const createCsvStreams = (log: Log): CsvStreams => {
  const openOf = new Map<string, number>();
  const free = (personId: string): void => {
    const left = openOf.get(personId)! - 1;
    if (left > 0) openOf.set(personId, left);
    else openOf.delete(personId);
  };
  return (reader, pieces) => {
    const { personId } = reader;
    const open = openOf.get(personId) ?? 0;
    if (open >= mostEach) {
      const message = `You have ${mostEach} exports running. Try again when one of them is done.`;
      throw new FlorinError('rate_limit_exceeded', message, undefined, retryAfterSeconds);
    }
    openOf.set(personId, open + 1);
    let isOpened = false;
    return {
      open(response) {
        isOpened = true;
        send(response, reader, pieces())
          .then(
            ending => {
              if (ending === 'whole') return response.end();
              if (ending === 'forbidden') log.warn({ personId }, 'an export was stopped: the person lost access');
              // Close the connection, so that a partial file does not look complete.
              return response.destroy();
            },
            error => {
              log.error({ err: error }, 'an export failed');
              response.destroy();
            },
          )
          .finally(() => free(personId));
      },
      drop() {
        if (!isOpened) free(personId);
      },
    };
  };
};
