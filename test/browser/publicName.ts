import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

export type PublicName = {
  /** For a browser that is to know the name. */
  readonly proxy: string;
  close(): void;
};

/** Gives a service on loopback a name of the whole world, for browsers that go through this proxy. No other name leads on. */
export const givePublicName = async (host: string, target: string): Promise<PublicName> => {
  const { port } = new URL(target);
  const server = createServer((_, response) => void response.writeHead(403).end());
  server.on('connect', ({ url }, near) => {
    near.on('error', () => near.destroy());
    if (url !== host) return void near.destroy();
    const far = connect(Number(port), 'localhost', () => void near.write('HTTP/1.1 200 OK\r\n\r\n'));
    far.on('error', () => far.destroy());
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    proxy: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};
