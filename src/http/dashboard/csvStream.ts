import type { ServerResponse } from 'node:http';
import { FlorinError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ReplyStream } from '../route.ts';

const mostAtOnce = 4;
/** A client that reads nothing for so long is taken for gone. */
const stalledMs = 60_000;

/** True once the client has read what waits for it; false when it is gone, or reads no more. */
const drained = (response: ServerResponse): Promise<boolean> =>
  new Promise(resolve => {
    const settle = (isDrained: boolean) => () => {
      clearTimeout(timer);
      response.off('drain', onDrain);
      response.off('close', onClose);
      resolve(isDrained);
    };
    const [onDrain, onClose] = [settle(true), settle(false)];
    const timer = setTimeout(onClose, stalledMs);
    response.once('drain', onDrain);
    response.once('close', onClose);
  });

/** No more is read than the client takes: what waits in memory is one piece, however long the file is. */
const send = async (response: ServerResponse, pieces: AsyncIterable<string>): Promise<boolean> => {
  for await (const piece of pieces) {
    if (response.destroyed) return false;
    if (!response.write(piece) && !(await drained(response))) return false;
  }
  return true;
};

/** Files that are sent while they are read, so many at a time. */
export const createCsvStreams = (log: Log): ((pieces: () => AsyncIterable<string>) => ReplyStream) => {
  let open = 0;
  return pieces => {
    if (open >= mostAtOnce) {
      throw new FlorinError('service_unavailable', 'Other exports are running. Try again when they are done.');
    }
    open += 1;
    let isOpened = false;
    return {
      open(response) {
        isOpened = true;
        send(response, pieces())
          .then(
            isWhole => (isWhole ? response.end() : response.destroy()),
            error => {
              log.error({ err: error }, 'an export broke off');
              // Cut off, so that nobody takes what came for the whole.
              response.destroy();
            },
          )
          .finally(() => {
            open -= 1;
          });
      },
      drop() {
        if (!isOpened) open -= 1;
      },
    };
  };
};
