import { fork } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scene } from './scene.ts';

/** Starts a bare TLS server in its own process. It answers with this text, or with the text of the path. */
export const startBare = async (
  scene: Scene,
  bodies: string | Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = { 'content-type': 'application/json; charset=utf-8' },
): Promise<{ port: number; pid: number; stop(): void }> => {
  const [headFile, bodiesFile] = [join(scene.dataDir, 'bare-head'), join(scene.dataDir, 'bare-bodies')];
  await writeFile(headFile, JSON.stringify(headers));
  await writeFile(bodiesFile, JSON.stringify(bodies));
  const child = fork(
    new URL('./bareServer.ts', import.meta.url),
    [join(scene.dataDir, 'tls', 'server.pem'), headFile, bodiesFile],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
  );
  const port = await new Promise<number>(resolve => child.stdout!.once('data', data => resolve(Number(data))));
  return { port, pid: child.pid!, stop: () => child.disconnect() };
};
