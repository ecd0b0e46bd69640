import type { Log } from '../../core/log.ts';
import type { Database } from '../../storage/database.ts';
import { type KeyState, noteHolder } from '../../storage/keys/keyState.ts';
import type { HeldKeys, Hindrance, KeyRing } from '../../vault/keyRing.ts';
import type { MasterKey } from '../../vault/masterKey.ts';
import type { ReleaseGate } from '../releaseGate.ts';
import { type Wanted, wantedKeys } from './rotationMark.ts';

/** A process that could not ask for this long makes no more values: a rotation may not have waited for it. */
const freshMs = 20_000;

type Parts = {
  readonly db: Database;
  readonly ring: KeyRing;
  /** Names this process. */
  readonly holder: string;
  readonly roles: readonly string[];
  readonly gate: ReleaseGate;
  readonly log: Log;
  readonly monotonicMs: () => number;
  /** The keys that this process can read. */
  readonly load: () => Promise<readonly MasterKey[]>;
  /** Called when a rotation is over. */
  readonly onOver: (fingerprint: string) => Promise<void>;
};

const forged = { forged: 'deployment', name: 'master_key_rotation' };

const printsOf = ({ current, other }: HeldKeys) => ({
  makes: current.fingerprint,
  accepts: other?.fingerprint ?? null,
});
const sameKeys = (one: HeldKeys, two: HeldKeys): boolean =>
  one.isNext === two.isNext && JSON.stringify(printsOf(one)) === JSON.stringify(printsOf(two));

/** Keeps the keys of a process those that the database asks for. Returns what to call again and again. */
export const createKeyFollower = (parts: Parts): (() => Promise<void>) => {
  const { db, ring, holder, gate, log, monotonicMs, load } = parts;
  const roles = parts.roles.join(', ');
  let isNew = true;
  let askedMs = monotonicMs();
  let lacks = false;
  let told = '';
  ring.guard((): Hindrance => {
    if (gate.isOutdated()) return 'outdated';
    if (lacks) return 'unknown';
    return monotonicMs() - askedMs > freshMs ? 'stale' : null;
  });

  const tell = (problem: string, fields: object = {}): void => {
    // The log has forged records once a minute, and counts them all.
    if (told !== problem || 'forged' in fields) log.error(fields, problem);
    told = problem;
  };
  const find = async (state: KeyState): Promise<Wanted> => {
    const { current, other } = ring.held();
    const held = other === null ? [current] : [current, other];
    const wanted = wantedKeys(state, held);
    if (wanted === 'forged' || !('missing' in wanted)) return wanted;
    // While a rotation is only announced, all values are made with the key in force. Later, this process must stop.
    lacks = wanted.missing === state.inForce || state.mark?.startsWith('begun') === true;
    return wantedKeys(state, [...held, ...(await load())]);
  };
  const follow = async (state: KeyState): Promise<void> => {
    const wanted = await find(state);
    const held = ring.held();
    if (wanted === 'forged') return tell('the mark of a key rotation was changed in the database', forged);
    if ('missing' in wanted) {
      return tell('this process does not have the next master key', { fingerprint: wanted.missing });
    }
    // Without its mark, a rotation that has begun goes on: values of both keys are in the database.
    if (held.isNext && !wanted.isNext && wanted.current.fingerprint !== held.current.fingerprint) {
      return tell('the mark of a key rotation was removed from the database', forged);
    }
    [lacks, told] = [false, ''];
    if (sameKeys(held, wanted)) return;
    ring.hold(wanted);
    log.info(printsOf(wanted), 'this process holds other master keys now');
    if (wanted.other === null) await parts.onOver(wanted.current.fingerprint);
  };
  return async () => {
    const startedMs = monotonicMs();
    const { knows } = gate;
    const noted = await noteHolder(db, { holder, ...printsOf(ring.held()), knows, roles, isNew });
    isNew = false;
    gate.note(noted.finished);
    if (gate.isOutdated())
      tell('the upgrade of the database to a newer version is finished', { finished: noted.finished });
    else await follow(noted);
    askedMs = startedMs;
  };
};
