import { lchown, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { formatSegment, type LogSegment, nextSegment, parseSegment } from '../../core/logSegment.ts';

/**
 * Gives segments of the log to a server that plays them, one after the other, as far as there is room: a folder, and a
 * command for `restore_command` that takes them from there. The key that opens them stays in this process.
 */
export type LogFeed = {
  /** The server runs it in the directory of its cluster. */
  readonly command: string;
  /** Which segment the server wanted and did not get; null if there is none. */
  readonly lacked: () => string | null;
  /** Ends with the error of `open`, or when the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
};

/** So many wait for the server: one that is played, and one that is ready. */
const mostAhead = 3;
const pollMs = 20;

/** A process that cannot answer has ended. A code above 125 ends the server: the end of the log would begin a new history. */
const script = `#!/bin/sh
# fetch NAME TARGET: waits until the restore has laid down a file of the log, or says that there is none.
folder=\${0%/*}
tries=0
until [ -e "$folder/$1" ]; do
  [ -e "$folder/$1.none" ] && exit 1
  : > "$folder/$1.want" || exit 255
  tries=$((tries + 1))
  [ "$tries" -gt 2400 ] && exit 255
  sleep 0.05
done
mv "$folder/$1" "$2"
`;

export const createLogFeed = async (options: {
  /** It must not exist, beside the cluster. */
  readonly folder: string;
  /** The account of the server; null if it is the one of this process. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** The server has those before this one. */
  readonly from: LogSegment;
  /** The content of a segment; null if there is none. */
  readonly openSegment: (segment: LogSegment) => AsyncIterable<Uint8Array> | null;
}): Promise<LogFeed> => {
  const { folder, owner, from, openSegment } = options;
  const give = async (path: string): Promise<void> => {
    if (owner !== null) await lchown(path, owner.uid, owner.gid);
  };
  await mkdir(folder, { mode: 0o700 });
  await writeFile(join(folder, 'fetch'), script, { mode: 0o700 });
  await give(join(folder, 'fetch'));
  await give(folder);
  let next: LogSegment | null = null;
  let lacked: string | null = null;

  const lay = async (name: string): Promise<boolean> => {
    const segment = parseSegment(name);
    const isAhead = segment !== null && segment.timeline === from.timeline && segment.number >= from.number;
    const content = isAhead ? openSegment(segment) : null;
    if (content === null) {
      await writeFile(join(folder, `${name}.none`), '');
      if (isAhead) lacked = name;
      return false;
    }
    const unfinished = join(folder, `${name}.new`);
    const file = await open(unfinished, 'w', 0o600);
    try {
      for await (const chunk of content) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
    await give(unfinished);
    await rename(unfinished, join(folder, name));
    return true;
  };

  /** Answers what the server asks for, and lays down what it will ask for. */
  const step = async (): Promise<void> => {
    const names = await readdir(folder);
    const ready = new Set(names);
    for (const wanted of names.filter(name => name.endsWith('.want'))) {
      const name = wanted.slice(0, -'.want'.length);
      await rm(join(folder, wanted), { force: true });
      if (ready.has(name)) continue;
      const segment = parseSegment(name);
      // It may ask for one again.
      if ((await lay(name)) && segment !== null) next = nextSegment(segment);
    }
    const laid = names.filter(name => parseSegment(name) !== null).length;
    if (next === null || laid >= mostAhead) return;
    const name = formatSegment(next);
    if (ready.has(name)) next = nextSegment(next);
    else if (openSegment(next) === null) next = null;
    else if (await lay(name)) next = nextSegment(next);
  };

  return {
    command: `sh ../${folder.slice(folder.lastIndexOf('/') + 1)}/fetch %f %p`,
    lacked: () => lacked,
    async run(signal) {
      while (!signal.aborted) {
        await step();
        await pause(pollMs, undefined, { signal }).catch(() => undefined);
      }
    },
  };
};
