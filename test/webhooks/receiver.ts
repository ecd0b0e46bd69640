import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export type Receiver = {
  readonly port: number;
  /** Everything that arrived, over all connections. */
  readonly received: () => string;
  readonly connections: () => number;
  readonly close: () => Promise<void>;
};

type Listening = Pick<Server, 'listen' | 'on' | 'close' | 'address'>;

/** Starts any server on loopback and remembers its sockets, so that closing never waits for a hostile one. */
export const startOnLoopback = async (
  server: Listening,
  address = '127.0.0.1',
): Promise<Omit<Receiver, 'received'>> => {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};

/** A receiver in plain bytes: `answer` is called once per connection when the request's headers are complete. */
export const startReceiver = async (answer: (socket: Socket) => void, address?: string): Promise<Receiver> => {
  const all: string[] = [];
  const server = createServer(socket => {
    let head = '';
    let answered = false;
    socket.on('data', chunk => {
      all.push(chunk.toString('latin1'));
      head += chunk.toString('latin1');
      if (answered || !head.includes('\r\n\r\n')) return;
      answered = true;
      answer(socket);
    });
  });
  return { ...(await startOnLoopback(server, address)), received: () => all.join('') };
};

export type Certificate = { readonly cert: string; readonly key: string };

/** A self-signed certificate for the names given, made on the spot. */
export const makeCertificate = async (names: readonly string[], expired = false): Promise<Certificate> => {
  // The package needs a metadata polyfill for injection, which is not used here.
  if (!('getMetadata' in Reflect)) {
    Object.assign(Reflect, { getMetadata: () => undefined, getOwnMetadata: () => undefined });
  }
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const dayMs = 86_400_000;
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=receiver',
    notBefore: new Date(Date.now() - 2 * dayMs),
    notAfter: new Date(Date.now() + (expired ? -dayMs : dayMs)),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.SubjectAlternativeNameExtension(
        names.map(value => ({ type: /^[0-9.:]+$/.test(value) ? 'ip' : 'dns', value })),
      ),
    ],
  });
  const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return { cert: certificate.toString('pem'), key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n` };
};
