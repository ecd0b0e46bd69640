import { endsOf } from '../../http/edge/connectionCap.ts';
import type { Listener } from '../../http/edge/listener.ts';
import type { Doors } from '../listeners.ts';
import type { Channel } from './channel.ts';

/** Connections that the supervisor accepts. It counts them too, for all processes together. */
export const handedDoors = (channel: Channel): Doors => {
  const listeners = new Map<number, Listener>();
  const ids = new Map<string, number>();
  const nothing = () => ({ taken: [] as number[], closed: [] as number[], counted: [] as [number, boolean][] });
  let news = nothing();
  let isDue = false;
  const told = () => {
    if (!isDue) setImmediate(tell);
    isDue = true;
    return news;
  };
  const tell = (): void => {
    isDue = false;
    void channel.post({ kind: 'connections', news });
    news = nothing();
  };

  channel.on({
    connection({ id, port }, socket) {
      told().taken.push(id);
      // It was closed on the way.
      if (socket === undefined) return void told().closed.push(id);
      const ends = endsOf(socket);
      ids.set(ends, id);
      socket.once('close', () => {
        if (ids.get(ends) === id) ids.delete(ends);
        told().closed.push(id);
      });
      socket.on('error', () => {});
      // As for those that a listener accepts: a client may close its half and wait for the answer.
      socket.allowHalfOpen = true;
      const listener = listeners.get(port);
      if (listener) listener.take(socket);
      else socket.destroy();
    },
  });
  return {
    cap: {
      admit: () => true,
      exempt(response) {
        const id = ids.get(endsOf(response.req.socket));
        if (id === undefined || response.closed) return;
        told().counted.push([id, false]);
        response.once('close', () => told().counted.push([id, true]));
      },
    },
    async open(listener, port) {
      listeners.set(port, listener);
      return port;
    },
  };
};
