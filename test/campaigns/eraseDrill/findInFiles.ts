import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { hasCode } from '../../../src/core/errorCode.ts';

/** Whether a file contains the bytes. */
const contains = async (path: string, wanted: Buffer): Promise<boolean> => {
  let before = Buffer.alloc(0);
  for await (const part of createReadStream(path, { highWaterMark: 1_048_576 }) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([before, part]);
    if (bytes.includes(wanted)) return true;
    before = bytes.subarray(Math.max(0, bytes.length - wanted.length + 1));
  }
  return false;
};

/** The files below a directory that contain the text. Free space within files is looked at, too. */
export const filesWithText = async (directory: string, text: string): Promise<string[]> => {
  const wanted = Buffer.from(text);
  const found: string[] = [];
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // The server removes files while it runs.
    const has = await contains(path, wanted).catch(error => {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    });
    if (has) found.push(relative(directory, path));
  }
  return found.sort();
};
