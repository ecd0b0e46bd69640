import { open, readFile, truncate } from 'node:fs/promises';

/** What is needed to make a block again: all inputs of its hash that do not follow from the blocks before it. */
export type BlockRecord = {
  readonly kind: 'block';
  readonly hash: string;
  readonly timestamp: string;
  readonly prevRandao: string;
  /** Signed transactions, in order. */
  readonly transactions: readonly string[];
};

/** Makes the chain differ from all others from its first block on. */
export type GenesisRecord = { readonly kind: 'genesis'; readonly identity: string };

/** A balance that was set between two blocks. */
export type BalanceRecord = { readonly kind: 'balance'; readonly address: string; readonly value: string };

export type ChainRecord = GenesisRecord | BlockRecord | BalanceRecord;

/** Drops all records after the first `keep`: the chain was reverted to an earlier block. */
type RevertRecord = { readonly kind: 'revert'; readonly keep: number };

export type Journal = {
  /** How many records count. */
  length(): number;
  /** Resolves once the records are on disk. */
  append(records: readonly ChainRecord[]): Promise<void>;
  revert(keep: number): Promise<void>;
  /** Resolves with the error when a record could not be written. The chain is then ahead of its journal. */
  readonly failed: Promise<unknown>;
  close(): Promise<void>;
};

const parse = (line: string): ChainRecord | RevertRecord | null => {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
};

/** The records that count, and their length in bytes. A line that a crash cut short is left out. */
const readRecords = (text: string): { records: ChainRecord[]; bytes: number } => {
  const records: ChainRecord[] = [];
  let bytes = 0;
  for (const line of text.split('\n').slice(0, -1)) {
    const record = parse(line);
    if (record === null) break;
    bytes += Buffer.byteLength(line) + 1;
    if (record.kind === 'revert') records.length = record.keep;
    else records.push(record);
  }
  return { records, bytes };
};

const readText = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
};

/** Opens or creates the journal of a chain, and reads its records. */
export const openJournal = async (path: string): Promise<{ journal: Journal; records: readonly ChainRecord[] }> => {
  const { records, bytes } = readRecords(await readText(path));
  const file = await open(path, 'a', 0o600);
  await truncate(path, bytes);
  let length = records.length;
  const failed = Promise.withResolvers<unknown>();
  const write = async (lines: readonly (ChainRecord | RevertRecord)[]): Promise<void> => {
    try {
      await file.appendFile(lines.map(line => `${JSON.stringify(line)}\n`).join(''));
      await file.datasync();
    } catch (error) {
      failed.resolve(error);
      throw error;
    }
  };
  const journal: Journal = {
    length: () => length,
    async append(added) {
      await write(added);
      length += added.length;
    },
    async revert(keep) {
      await write([{ kind: 'revert', keep }]);
      length = keep;
    },
    failed: failed.promise,
    close: () => file.close(),
  };
  return { journal, records };
};
