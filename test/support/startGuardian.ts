import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** When this process has ended, however it ends, this ends what it left running below its folders, and removes them. */
export const startGuardian = (folders: readonly string[]): void => {
  const path = fileURLToPath(new URL('guardian.mjs', import.meta.url));
  const child = spawn(process.execPath, [path, ...folders], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.unref();
  // The pipe closes with this process.
  (child.stdin as unknown as { unref(): void }).unref();
};
