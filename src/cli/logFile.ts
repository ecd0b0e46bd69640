import { closeSync, mkdirSync, openSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, hasCode } from '../core/errorCode.ts';
import { ConfigError, type LogFile } from './config.ts';

/** Where lines go. `flush` ends once everything that was written before it has left this process, or cannot leave it. */
export type LogDestination = {
  write(lines: string): void;
  flush(): Promise<void>;
};

const gatherBytes = 8_192;
const gatherMs = 1_000;
const maxWriteBytes = 64 * 1024;
/** What waits while the disk is full. Then lines are dropped: memory is bounded, and payments go on. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** FILE to FILE.1, FILE.1 to FILE.2, and so on. The last one is removed. */
const shiftFiles = async ({ path, files }: LogFile): Promise<void> => {
  await rm(`${path}.${files}`, { force: true });
  for (let at = files - 1; at >= 0; at--) {
    await rename(at === 0 ? path : `${path}.${at}`, `${path}.${at + 1}`).catch(error => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
  }
};

const refuseUnwritable = (path: string): void => {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw new ConfigError([`FLORIN_LOG_FILE: ${path} cannot be written (${codeOf(error) ?? 'unknown error'})`]);
  }
};

/**
 * A file that lines are added to. A full one is renamed, and a new one begun. pino's own destination lost lines when it was
 * reopened under load.
 */
export const openLogFile = (file: LogFile): LogDestination => {
  refuseUnwritable(file.path);
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | null = null;
  let handle: FileHandle | null = null;
  let size = 0;
  let running: Promise<void> | null = null;

  const opened = async (): Promise<FileHandle> => {
    handle ??= await open(file.path, 'a', 0o600);
    size = (await handle.stat()).size;
    return handle;
  };
  const close = async (): Promise<void> => {
    await handle?.close();
    handle = null;
  };

  /** Whole lines, up to what the file has room for. */
  const takeSome = (): Buffer => {
    // One line at least: a full file that cannot be renamed grows.
    const room = Math.max(1, Math.min(maxWriteBytes, file.maxBytes - size));
    let count = 0;
    for (let bytes = 0; count < waiting.length && bytes < room; count++) bytes += waiting[count]!.length;
    return Buffer.concat(waiting.splice(0, count));
  };

  /** Writes some lines. What could not be written waits, without the part that was. */
  const writeSome = async (): Promise<void> => {
    const to = handle ?? (await opened());
    const bytes = takeSome();
    let done = 0;
    try {
      while (done < bytes.length) done += (await to.write(bytes, done)).bytesWritten;
    } finally {
      waitingBytes -= done;
      size += done;
      if (done < bytes.length) waiting.unshift(bytes.subarray(done));
    }
    if (size < file.maxBytes) return;
    await close();
    await shiftFiles(file);
    await opened();
  };

  const writeAll = async (): Promise<void> => {
    try {
      while (waiting.length > 0) await writeSome();
    } catch {
      // The disk is full, or the folder is gone: the next line tries again.
    } finally {
      running = null;
    }
  };
  const flush = (): Promise<void> => {
    if (timer) clearTimeout(timer);
    timer = null;
    running ??= writeAll();
    return running;
  };

  return {
    flush,
    write(lines) {
      const bytes = Buffer.from(lines);
      if (waitingBytes + bytes.length > maxWaitingBytes) return;
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= gatherBytes) void flush();
      else timer ??= setTimeout(flush, gatherMs).unref();
    },
  };
};
