import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, hasCode } from '../core/errorCode.ts';
import { FlorinError } from '../core/errors.ts';
import { keepOwner, syncDirectory } from '../local/postgres/postgresFiles.ts';

/** What is in flight until it is whole, on disk and has its name. */
export const openTarget = async (directory: string, partialName: string) => {
  const partial = join(directory, `.${partialName}.partial`);
  const handle = await open(partial, 'wx', 0o600).catch(error => {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS')) throw error;
    throw new FlorinError('conflict', `The directory ${directory} cannot be written to (${codeOf(error)}).`);
  });
  return {
    stream: createWriteStream('', { fd: handle.fd, autoClose: false }),
    /** Under its name from now on, which may replace a file. Returns its path. */
    async finish(name: string): Promise<string> {
      const file = join(directory, name);
      await handle.sync();
      await handle.close();
      await keepOwner(partial);
      await rename(partial, file);
      await syncDirectory(dirname(file));
      return file;
    },
    async discard(): Promise<void> {
      await handle.close().catch(() => undefined);
      await rm(partial, { force: true });
    },
  };
};
