import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** After so many objects V8 settles how a class is laid out. */
const settlingCount = 8;

/**
 * V8 gives the objects of a class as much room as the first of them were seen to use, and forgets what it saw when it
 * collects garbage between them. Requests had then room for nothing, became dictionaries, and each took a tenth longer to
 * serve until the process ended: about one start in four. Made here in one go, none is forgotten.
 */
export const settleMessageShapes = (): void => {
  const messages = Array.from({ length: settlingCount }, () => new IncomingMessage(new Socket()));
  for (const message of messages) new ServerResponse(message);
};
