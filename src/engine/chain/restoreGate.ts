import type { Log } from '../../core/log.ts';
import { readRestoreState } from '../../storage/chain/restoreReviews.ts';
import type { RestoreGate } from '../../storage/chain/restores.ts';
import type { Queryable } from '../../storage/database.ts';
import { readNow } from '../../storage/databaseClock.ts';
import { gateName, putDeploymentValue, readDeploymentValue } from '../../storage/deployment.ts';
import type { Vault } from '../../vault/vault.ts';

/** `at`: when it was opened or closed last. It only rises, so an earlier gate that somebody puts back has an earlier one. */
export type Gate = { readonly state: RestoreGate; readonly at: string };
type Parts = { readonly db: Queryable; readonly vault: Vault };

const form = /^(open|extended_keys|production) (\S+) ([0-9a-f]{64})$/;
const covered = ({ state, at }: Gate): string[] => [gateName, state, at];
const textOf = (vault: Vault, gate: Gate): string =>
  `${gate.state} ${gate.at} ${vault.rowSeal('deployment', covered(gate)).toString('hex')}`;

/** Null if Florin did not write it, or if it is gone: then nothing may be open. */
export const parseGate = (vault: Vault, value: string | null): Gate | null => {
  const [, state, at, seal] = form.exec(value ?? '') ?? [];
  if (at === undefined) return null;
  const gate = { state: state as RestoreGate, at };
  return vault.isRowSeal('deployment', covered(gate), Buffer.from(seal!, 'hex')) ? gate : null;
};

/** Of a gate that somebody changed or removed: production waits for the operator. */
const forgedGate: Gate = { state: 'production', at: '' };

export const readGate = async ({ db, vault }: Parts): Promise<Gate> =>
  parseGate(vault, await readDeploymentValue(db, gateName)) ?? forgedGate;

/** `knownAt`: when the gate was moved last, as the data directory says. A restored database has an earlier one. */
export const putGate = async ({ db, vault }: Parts, state: RestoreGate, knownAt = ''): Promise<void> => {
  const { at: storedAt } = await readGate({ db, vault });
  const before = knownAt > storedAt ? knownAt : storedAt;
  const now = (await readNow(db)).toISOString();
  // The clock of a restored database may be behind.
  const at = now > before ? now : new Date(Date.parse(before) + 1).toISOString();
  await putDeploymentValue(db, gateName, textOf(vault, { state, at }));
};

/** For a database whose rows get their first seals: as it was, or open. */
export const sealFirstGate = async ({ db, vault }: Parts): Promise<void> => {
  const value = await readDeploymentValue(db, gateName);
  if (parseGate(vault, value) !== null) return;
  const state = value === 'extended_keys' || value === 'production' ? value : 'open';
  await putGate({ db, vault }, state);
};

/** With the seal of another master key, unless somebody changed it. */
export const resealGate = async ({ db, vault }: Parts, next: Vault): Promise<void> => {
  const gate = parseGate(vault, await readDeploymentValue(db, gateName));
  if (gate !== null) await putDeploymentValue(db, gateName, textOf(next, gate));
};

/** What the data directory knows and the database has lost. */
export type AuditLoss = {
  /** The gate as the data directory has seen it last. */
  readonly gateAt: string;
  /** Accounts whose audit log lacks rows that were there. */
  readonly accounts: ReadonlySet<string>;
};

/** What is closed: indexes or all of production until the operator confirms it, and accounts. */
export type RestoreState = {
  readonly gate: RestoreGate;
  /** Until an owner has reviewed them. */
  readonly inReview: ReadonlySet<string>;
  /** Until the operator declares a restore: their audit logs lack rows. */
  readonly lost: ReadonlySet<string>;
};

const nobody: ReadonlySet<string> = new Set();
const refreshMs = 500;

/** Asks the database at most twice a second, whatever the number of requests. */
export const createRestoreState = (
  { db, vault, log }: Parts & { readonly log: Log },
  nowMs: () => number,
  readLoss: () => AuditLoss,
): (() => Promise<RestoreState>) => {
  let latest = '';
  const ask = async (): Promise<RestoreState> => {
    const { value, inReview } = await readRestoreState(db);
    const gate = parseGate(vault, value);
    const { gateAt, accounts } = readLoss();
    if (gateAt > latest) latest = gateAt;
    if (gate === null || gate.at < latest) {
      log.error({ forged: 'deployment', name: gateName }, 'the gate of restores was changed in the database');
      return { gate: 'production', inReview, lost: accounts };
    }
    latest = gate.at;
    // Declared since: all accounts with anything in production are reviewed.
    const isDeclared = gate.state === 'open' && gate.at > gateAt;
    return { gate: gate.state, inReview, lost: isDeclared ? nobody : accounts };
  };
  let kept: { readonly state: Promise<RestoreState>; readonly untilMs: number } | null = null;
  return () => {
    if (kept === null || nowMs() >= kept.untilMs) {
      const state = ask();
      kept = { state, untilMs: nowMs() + refreshMs };
      state.catch(() => {
        kept = null;
      });
    }
    return kept.state;
  };
};
