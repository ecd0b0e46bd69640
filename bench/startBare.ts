import { fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scene } from './scene.ts';

/** A bare TLS server in a process of its own that answers these bytes to everything. */
export const startBare = async (
  scene: Scene,
  body: string | Buffer,
): Promise<{ port: number; pid: number; stop(): void }> => {
  const bodyFile = join(scene.dataDir, 'bare-body');
  await writeFile(bodyFile, body);
  const child = fork(
    new URL('./bareServer.ts', import.meta.url),
    [join(scene.dataDir, 'tls', 'server.pem'), bodyFile],
    {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  const port = await new Promise<number>(resolve => child.stdout!.once('data', data => resolve(Number(data))));
  return { port, pid: child.pid!, stop: () => child.disconnect() };
};
