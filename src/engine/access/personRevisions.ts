import type { Floors, Version } from '../../storage/floors.ts';
import { versionOf } from '../../storage/keepSeals.ts';
import { readSealedRows, type SealedRow } from '../../storage/seals.ts';
import type { Context } from '../context.ts';

const pageRows = 1_000;

/** How often the row of each person was changed, by id, with a hash of what it says. Files of older versions lack the hash. */
export type PersonRevisions = Readonly<Record<string, string>>;

const nameOf = (id: string): string => `people ${id}`;
const printed = ({ number, text }: Version): string => (text === null ? `${number}` : `${number} ${text}`);

/** Refuses in this process, from now on, rows of people from before what is remembered outside of the database. */
export const raiseToRemembered = (floors: Floors, remembered: PersonRevisions): void => {
  for (const [id, revision] of Object.entries(remembered)) {
    const [number, text = null] = revision.split(' ');
    floors.raise(nameOf(id), { number: BigInt(number!), text });
  }
};

/**
 * Compares the rows of people with what is remembered outside of the database, and with what this process has seen. A seal
 * cannot show that an earlier row, with an earlier password, was put back. A person with a problem keeps what is
 * remembered, and so does one whose row was forged: the check of the seals tells that, and what it says must not be
 * remembered.
 */
export const comparePeople = async (
  { db, vault, floors }: Pick<Context, 'db' | 'vault' | 'floors'>,
  remembered: PersonRevisions,
): Promise<{ problems: string[]; revisions: PersonRevisions }> => {
  raiseToRemembered(floors, remembered);
  const problems: string[] = [];
  const revisions: Record<string, string> = { ...remembered };
  const seen = new Set<string>();
  const look = ({ text, seal }: SealedRow, began: number): void => {
    const { id } = JSON.parse(text) as { id: string };
    seen.add(id);
    const { name, version } = versionOf('people', text)!;
    const isGenuine = seal !== null && vault.isRowSeal('people', [text], Buffer.from(seal, 'hex'));
    const isEarlier = isGenuine && floors.isEarlier(name, version, began);
    if (isEarlier) problems.push(`person ${id}: an earlier row, with an earlier password or sign-in, was put back`);
    else if (isGenuine) floors.raise(name, version);
    const floor = floors.of(name);
    if (floor) revisions[id] = printed(floor);
  };
  for (let after: string | null = null; ; ) {
    const began = floors.now();
    const page: readonly SealedRow[] = await readSealedRows(db, 'people', { after, limit: pageRows, all: true });
    for (const row of page) look(row, began);
    if (page.length < pageRows) break;
    after = page.at(-1)!.text;
  }
  for (const id of Object.keys(remembered)) if (!seen.has(id)) problems.push(`person ${id}: their row is gone`);
  return { problems, revisions };
};
