import { accessSync, appendFileSync, closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
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

const dayMs = 86_400_000;
const lookMs = 3_600_000;

/** Half of the days in the file that is written, and half in a renamed one: then its oldest line is as old as allowed. */
const isOld = (sinceMs: number, { days }: LogFile): boolean => Date.now() - sinceMs >= (days * dayMs) / 2;

/** Removes renamed files whose last line is old, also those of an earlier setting that kept more. */
const removeOld = async (file: LogFile): Promise<void> => {
  const prefix = `${basename(file.path)}.`;
  for (const name of await readdir(dirname(file.path))) {
    if (!name.startsWith(prefix) || !/^\d+$/.test(name.slice(prefix.length))) continue;
    const path = join(dirname(file.path), name);
    if (isOld((await stat(path)).mtimeMs, file)) await rm(path, { force: true });
  }
};

const refuseUnwritable = (path: string): void => {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw new ConfigError([`FLORIN_LOG_FILE: ${path} cannot be written (${codeOf(error) ?? 'unknown error'})`]);
  }
  try {
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    const why = `${path} cannot be renamed when it is full, because its folder cannot be written (${codeOf(error)})`;
    throw new ConfigError([`FLORIN_LOG_FILE: ${why}. Choose a file in a folder that belongs to Florin.`]);
  }
};

const droppedLine = (lines: number): Buffer =>
  Buffer.from(
    `${JSON.stringify({ level: 40, time: new Date().toISOString(), msg: 'log lines were dropped', lines })}\n`,
  );

const countLines = (text: string): number => text.split('\n').length - 1;

/** Writes what waits when the process ends without a flush: the last lines say why it ended. */
const atExit = new Set<() => void>();
process.on('exit', () => {
  for (const writeRest of atExit) writeRest();
});

/**
 * A file that lines are added to. A full one is renamed, and a new one begun. pino's own destination lost lines when it was
 * reopened under load.
 */
export const openLogFile = (file: LogFile): LogDestination => {
  refuseUnwritable(file.path);
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | null = null;
  let handle: FileHandle | null = null;
  let size = 0;
  let running: Promise<void> | null = null;
  let lookedMs = 0;

  let begunMs = 0;

  const opened = async (): Promise<FileHandle> => {
    handle ??= await open(file.path, 'a', 0o600);
    const { size: bytes, birthtimeMs, mtimeMs } = await handle.stat();
    size = bytes;
    begunMs = birthtimeMs || mtimeMs;
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
    if (size >= file.maxBytes) await beginAnother();
  };

  /** Once lines are written again. */
  const tellDropped = (): void => {
    if (dropped === 0) return;
    const line = droppedLine(dropped);
    waiting.push(line);
    waitingBytes += line.length;
    dropped = 0;
  };

  const beginAnother = async (): Promise<void> => {
    await close();
    await shiftFiles(file);
    await opened();
  };

  const endOld = async (): Promise<void> => {
    if (handle === null) await opened();
    if (size > 0 && isOld(begunMs, file)) await beginAnother();
    await removeOld(file);
  };

  const writeAll = async (): Promise<void> => {
    try {
      if (Date.now() - lookedMs >= lookMs) {
        lookedMs = Date.now();
        // What cannot be removed must not stop what is to be written.
        await endOld().catch(() => undefined);
      }
      while (waiting.length > 0) {
        await writeSome();
        tellDropped();
      }
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

  atExit.add(() => {
    try {
      appendFileSync(file.path, Buffer.concat(waiting.splice(0)), { mode: 0o600 });
    } catch {
      // There is nobody left to tell.
    }
  });
  // Also where nothing is logged.
  setInterval(() => void flush(), lookMs).unref();
  return {
    flush,
    write(lines) {
      const bytes = Buffer.from(lines);
      if (waitingBytes + bytes.length > maxWaitingBytes) {
        dropped += countLines(lines);
        return;
      }
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if (waitingBytes >= gatherBytes) void flush();
      else timer ??= setTimeout(flush, gatherMs).unref();
    },
  };
};
