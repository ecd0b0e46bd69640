import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type CuttableLine = {
  /** The same service, reached through this line. */
  readonly url: string;
  /** Ends every connection at once; new ones are taken while it is open. */
  cut(): void;
  setOpen(isOpen: boolean): void;
  close(): Promise<void>;
};

/** A line between a browser and a service on loopback that can be cut, as lines are. */
export const openLine = async (target: string): Promise<CuttableLine> => {
  const { port, pathname } = new URL(target);
  const sockets = new Set<Socket>();
  let isOpen = true;
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  };
  const server = createServer(near => {
    if (!isOpen) return void near.destroy();
    const far = connect(Number(port), 'localhost');
    keep(near, far);
    keep(far, near);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}${pathname}`,
    cut,
    setOpen(open) {
      isOpen = open;
      if (!open) cut();
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        cut();
      }),
  };
};
