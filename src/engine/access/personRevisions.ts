import { readSealedRows, type SealedRow } from '../../storage/seals.ts';
import type { Context } from '../context.ts';

const pageRows = 1_000;

/** How often the row of each person was changed, by id. */
export type PersonRevisions = Readonly<Record<string, string>>;

type PersonText = { readonly id: string; readonly revision?: number };

/**
 * Compares the rows of people with what is remembered outside of the database. A seal cannot show that an earlier row,
 * with an earlier password, was put back. A person with a problem keeps what is remembered, and so does one whose row was
 * forged: the check of the seals tells that, and what it says must not be remembered.
 */
export const comparePeople = async (
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  remembered: PersonRevisions,
): Promise<{ problems: string[]; revisions: PersonRevisions }> => {
  const problems: string[] = [];
  const revisions: Record<string, string> = {};
  const seen = new Set<string>();
  const look = ({ text, seal }: SealedRow): void => {
    const { id, revision = 0 } = JSON.parse(text) as PersonText;
    seen.add(id);
    const before = remembered[id];
    const isGenuine = seal !== null && vault.isRowSeal('people', [text], Buffer.from(seal, 'hex'));
    const isEarlier = isGenuine && before !== undefined && BigInt(revision) < BigInt(before);
    if (isEarlier) problems.push(`person ${id}: an earlier row, with an earlier password or sign-in, was put back`);
    if (isGenuine && !isEarlier) revisions[id] = String(revision);
    else if (before !== undefined) revisions[id] = before;
  };
  for (let after: string | null = null; ; ) {
    const page: readonly SealedRow[] = await readSealedRows(db, 'people', { after, limit: pageRows, all: true });
    for (const row of page) look(row);
    if (page.length < pageRows) break;
    after = page.at(-1)!.text;
  }
  for (const [id, revision] of Object.entries(remembered)) {
    if (seen.has(id)) continue;
    problems.push(`person ${id}: their row is gone`);
    revisions[id] = revision;
  }
  return { problems, revisions };
};
