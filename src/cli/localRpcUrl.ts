import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../core/errorCode.ts';

/** Where the local chain of a running Florin answers; null if it has none. */
export const findLocalRpcUrl = async (dataDir: string): Promise<string | null> => {
  try {
    const { port } = JSON.parse(await readFile(join(dataDir, 'devchain.json'), 'utf8')) as { port: number };
    return `http://127.0.0.1:${port}`;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return null;
  }
};
