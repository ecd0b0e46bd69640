import { fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scene } from './scene.ts';

/** A bare TLS server in a process of its own that answers these bytes to everything. */
export const startBare = async (
  scene: Scene,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json; charset=utf-8' },
): Promise<{ port: number; pid: number; stop(): void }> => {
  const [headFile, bodyFile] = [join(scene.dataDir, 'bare-head'), join(scene.dataDir, 'bare-body')];
  await writeFile(headFile, JSON.stringify(headers));
  await writeFile(bodyFile, body);
  const child = fork(
    new URL('./bareServer.ts', import.meta.url),
    [join(scene.dataDir, 'tls', 'server.pem'), headFile, bodyFile],
    {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  const port = await new Promise<number>(resolve => child.stdout!.once('data', data => resolve(Number(data))));
  return { port, pid: child.pid!, stop: () => child.disconnect() };
};
