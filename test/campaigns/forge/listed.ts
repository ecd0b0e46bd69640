import { readFile } from 'node:fs/promises';
import type { Forgery } from './forgeries.ts';

const heading = '## What somebody who can write to the database can still do';

/** A row of the list: `table`, `table.column` or `table (kind)`, and why it does no harm. */
type Entry = { readonly names: readonly string[]; readonly reason: string };

const readEntries = async (): Promise<Entry[]> => {
  const text = await readFile(new URL('../../../SECURITY.md', import.meta.url), 'utf8');
  const [, after = ''] = text.split(heading);
  const [section = ''] = after.split('\n## ');
  return [...section.matchAll(/^\| (`[^|]*`) \| (.*) \|$/gm)].map(([, names = '', reason = '']) => ({
    names: [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
    reason,
  }));
};

export type Listed = {
  /** Says why an act is listed as harmless in SECURITY.md; null if it is not. */
  reasonOf(forgery: Forgery): string | null;
  /** Rows of the list that no act has used, by their first name. */
  unused(): string[];
};

export const readListed = async (): Promise<Listed> => {
  const entries = await readEntries();
  const byName = new Map(entries.flatMap(entry => entry.names.map(name => [name, entry])));
  const used = new Set<Entry>();
  return {
    reasonOf({ name, table, kind }) {
      const found = [name, `${table} (${kind})`, table]
        .map(each => byName.get(each))
        .find(entry => entry !== undefined);
      if (found === undefined) return null;
      used.add(found);
      return found.reason;
    },
    unused: () => entries.filter(entry => !used.has(entry)).map(({ names }) => names[0] ?? ''),
  };
};
