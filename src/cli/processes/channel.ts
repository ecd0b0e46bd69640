import type { Socket } from 'node:net';
import type { Begin, Connection, ToChild, ToSupervisor, Wish } from './messages.ts';

/** What the process is told by its supervisor, apart from the first message. */
export type Told = {
  connection(connection: Connection, socket: Socket | undefined): void;
  decisions(message: Extract<ToChild, { kind: 'decisions' }>): void;
  audit(message: Extract<ToChild, { kind: 'audit' }>): void;
  measure(message: Extract<ToChild, { kind: 'measure' }>): void;
  stop(): void;
};

export type Channel = ReturnType<typeof openChannel>;

/** The channel of this process to its supervisor. */
export const openChannel = () => {
  const told: Partial<Told> = {};
  const asked = new Map<number, PromiseWithResolvers<unknown>>();
  let count = 0;
  const begun = Promise.withResolvers<Begin>();
  // An error means that the supervisor is gone, which ends this process.
  const post = (message: ToSupervisor): Promise<void> =>
    new Promise(resolve => process.send!(message, undefined, undefined, () => resolve()));

  process.on('message', (message: ToChild, socket?: Socket) => {
    if (message.kind === 'begin') begun.resolve(message);
    else if (message.kind === 'answer') {
      const { id, value, error } = message;
      if (error === null) asked.get(id)?.resolve(value);
      else asked.get(id)?.reject(new Error(error));
      asked.delete(id);
    } else if (message.kind === 'connection') {
      if (told.connection) told.connection(message, socket);
      else socket?.destroy();
    } else if (message.kind === 'decisions') told.decisions?.(message);
    else if (message.kind === 'audit') told.audit?.(message);
    else if (message.kind === 'measure') told.measure?.(message);
    else told.stop?.();
  });
  return {
    begun: begun.promise,
    post,
    /** Replaces what is done about these messages. */
    on: (handlers: Partial<Told>): void => void Object.assign(told, handlers),
    ask<T>(wish: Wish): Promise<T> {
      count += 1;
      const question = Promise.withResolvers<unknown>();
      asked.set(count, question);
      void post({ kind: 'ask', id: count, wish });
      return question.promise as Promise<T>;
    },
  };
};
