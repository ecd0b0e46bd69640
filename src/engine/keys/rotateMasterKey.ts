import { setTimeout as pause } from 'node:timers/promises';
import { FlorinError } from '../../core/errors.ts';
import { readFinishedVersion } from '../../storage/appliedMigrations.ts';
import { readAuditHeads } from '../../storage/audit/auditLog.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import {
  type Holder,
  listHolders,
  putKeyInForce,
  putRotationMark,
  readKeyState,
  writingTransactions,
} from '../../storage/keys/keyState.ts';
import { listPeopleWithoutCodes } from '../../storage/keys/remadeValues.ts';
import { loadRelease } from '../../storage/release.ts';
import { sealedTableNames } from '../../storage/seals.ts';
import type { MasterKey } from '../../vault/masterKey.ts';
import { createVault } from '../../vault/vault.ts';
import type { AdminContext } from '../access/accounts.ts';
import { resealDashboardUrl } from '../access/dashboardUrl.ts';
import { resealGate } from '../chain/restoreGate.ts';
import { largeTables } from '../seals/largeTables.ts';
import { areRowsSealed, putSealedMark } from '../seals/sealOlderRows.ts';
import { ownedTables, remakeAccount } from './remakeAccount.ts';
import { remakeLargeTable } from './remakeLarge.ts';
import { remakeOutbox } from './remakeOutbox.ts';
import { remakeSealedTable } from './remakeSealed.ts';
import type { Remaking, Round } from './remaking.ts';
import { markOf, overMark, type Phase, rotationOf } from './rotationMark.ts';

const pollMs = 200;
const accountsPerPage = 500;
const maxPeople = 100_000;
const maxRounds = 1_000;

export type Rotated = {
  readonly from: string;
  readonly to: string;
  /** Values made anew by this run. */
  readonly remade: number;
  /** What matches neither key, by table and key. It is refused, as before. */
  readonly forged: readonly string[];
  /** Those with an authenticator who have no recovery codes. */
  readonly withoutCodes: readonly { readonly id: string; readonly email: string }[];
};

export type RotationParts = {
  /** Makes values with the next key. */
  readonly admin: AdminContext;
  readonly from: MasterKey;
  readonly to: MasterKey;
  /** It may throw to stop the rotation: the next run goes on. */
  readonly progress: (table: string, rows: number) => void;
  /** Called with the processes that are waited for, when these change. */
  readonly waiting: (holders: readonly string[]) => void;
};

/** Waits until every process that runs holds its keys in this way. */
const waitForHolders = async (
  { db }: { readonly db: Database },
  { waiting }: Pick<RotationParts, 'waiting'>,
  isReady: (holder: Holder) => boolean,
): Promise<void> => {
  for (let told = ''; ; ) {
    const late = (await listHolders(db)).filter(each => !isReady(each)).map(({ holder }) => holder);
    if (late.length === 0) return;
    if (late.join(' ') !== told) waiting(late);
    told = late.join(' ');
    await pause(pollMs);
  }
};

/** Waits for the transactions that run: they may have values of the former key that nobody else sees yet. */
const waitForTransactions = async (db: Database): Promise<void> => {
  const before = await writingTransactions(db);
  while (before.intersection(await writingTransactions(db)).size > 0) await pause(pollMs);
};

/** Goes through everything once. */
const goRound = async (admin: AdminContext, remaking: Remaking): Promise<Round> => {
  const round: Round = { remade: 0, left: 0, forged: [] };
  const isOwned = (table: string): boolean => (ownedTables as readonly string[]).includes(table);
  let accounts = 0;
  for (let after = ''; ; ) {
    const page = await readAuditHeads(remaking.db, after, accountsPerPage);
    for (const { accountId } of page) await remakeAccount(admin, remaking, accountId, round);
    accounts += page.length;
    remaking.progress('audit_log', accounts);
    if (page.length < accountsPerPage) break;
    after = page.at(-1)!.accountId;
  }
  for (const table of sealedTableNames.filter(name => !isOwned(name))) await remakeSealedTable(remaking, table, round);
  for (const large of largeTables) await remakeLargeTable(remaking, large, round);
  await remakeOutbox(remaking, round);
  return round;
};

const enter = async (parts: RotationParts, phase: Phase): Promise<void> => {
  const { admin, from, to } = parts;
  if (await putRotationMark(admin.db, from.fingerprint, markOf(from, phase, to))) return;
  throw new FlorinError('conflict', 'Another key is in force in this database. Run the command again.');
};

/** How far the rotation is, after a check that it may go on. */
const phaseOf = async ({ admin, from, to }: RotationParts): Promise<Phase | null> => {
  if (!to.saltKey.equals(from.saltKey)) {
    throw new FlorinError(
      'conflict',
      'The next key was not made from the key in force: it would change all addresses.',
    );
  }
  if (!(await areRowsSealed(admin))) {
    throw new FlorinError('conflict', 'The rows of this database are not sealed yet. Start Florin first.');
  }
  const rotation = rotationOf(await readKeyState(admin.db), from);
  if (rotation === 'forged') {
    throw new FlorinError('conflict', 'The mark of a key rotation was changed in the database. Run florin doctor.');
  }
  if (rotation !== null && rotation.to !== to.fingerprint) {
    throw new FlorinError('conflict', 'A rotation to another key is under way. Run the command with that key.');
  }
  return rotation?.phase ?? null;
};

/** Rows of a kind that this version does not know would keep the seals of the former key. */
const refuseOutdated = async (tx: Queryable): Promise<void> => {
  if ((await readFinishedVersion(tx)) <= (await loadRelease()).migrations.length) return;
  throw new FlorinError(
    'conflict',
    'The database was upgraded meanwhile. Run the command of the newer version, which goes on.',
  );
};

/**
 * Replaces the master key while processes run. They accept both keys, then they make values with the next one, then all
 * values of the former one are made anew until there are none. A run that was stopped is gone on with.
 */
export const rotateMasterKey = async (parts: RotationParts): Promise<Rotated> => {
  const { admin, from, to } = parts;
  const phase = await phaseOf(parts);
  if (phase === null) await enter(parts, 'announced');
  const accepts = ({ makes, accepts: other }: Holder): boolean => [makes, other].includes(to.fingerprint);
  await waitForHolders(admin, parts, accepts);
  if (phase !== 'begun') await enter(parts, 'begun');
  const makes = (holder: Holder): boolean => holder.makes === to.fingerprint;
  await waitForHolders(admin, parts, makes);
  await waitForTransactions(admin.db);

  const { progress } = parts;
  const remaking: Remaking = { db: admin.db, former: createVault(from), next: createVault(to), progress };
  let remade = 0;
  for (let count = 1; count <= maxRounds; count++) {
    // A process may have started meanwhile, or come back.
    await waitForHolders(admin, parts, makes);
    const round = await goRound(admin, remaking);
    remade += round.remade;
    if (round.remade > 0 || round.left > 0) continue;
    await admin.db.transaction(async tx => {
      await refuseOutdated(tx);
      await putKeyInForce(tx, from.fingerprint, to.fingerprint);
      await putSealedMark(tx, remaking.next);
      await resealDashboardUrl({ db: tx, vault: admin.vault }, remaking.next);
      await resealGate({ db: tx, vault: admin.vault }, remaking.next);
      await putRotationMark(tx, to.fingerprint, overMark);
    });
    const people = await listPeopleWithoutCodes(admin.db, maxPeople);
    const withoutCodes = people.map(({ id, email }) => ({ id, email }));
    return { from: from.fingerprint, to: to.fingerprint, remade, forged: round.forged, withoutCodes };
  }
  throw new FlorinError('conflict', 'Rows are in use all the time. Run the command again when less is going on.');
};
