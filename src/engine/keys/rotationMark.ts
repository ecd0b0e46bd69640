import type { KeyState } from '../../storage/keys/keyState.ts';
import type { HeldKeys } from '../../vault/keyRing.ts';
import type { MasterKey } from '../../vault/masterKey.ts';
import { createVault } from '../../vault/vault.ts';

/**
 * How far a rotation is. `announced`: every process accepts both keys and makes values with the former one. `begun`: they
 * make values with the next one. In one step, a process would meet values of a key that it does not have yet.
 */
export type Phase = 'announced' | 'begun';
export type Rotation = { readonly phase: Phase; readonly from: string; readonly to: string };

const form = /^(announced|begun) ([0-9a-f]{32}) ([0-9a-f]{32}) ([0-9a-f]{64})$/;
const kind = 'deployment';
const covered = ({ phase, from, to }: Rotation): string[] => ['master_key_rotation', phase, from, to];

/** A rotation that is over leaves this behind: the service may delete no rows of `deployment`. */
export const overMark = 'over';

/** Who can only write to the database cannot begin a rotation: the mark is made with the key in force. */
export const markOf = (inForce: MasterKey, phase: Phase, to: MasterKey): string => {
  const rotation = { phase, from: inForce.fingerprint, to: to.fingerprint };
  const mac = createVault(inForce).rowSeal(kind, covered(rotation)).toString('hex');
  return `${phase} ${rotation.from} ${rotation.to} ${mac}`;
};

/** The rotation that is under way; null if there is none. `forged`: somebody wrote the mark into the database. */
export const rotationOf = (
  { inForce: fingerprint, mark }: KeyState,
  inForce: MasterKey,
): Rotation | 'forged' | null => {
  if (mark === null || mark === overMark) return null;
  const [, phase, from, to, mac] = form.exec(mark) ?? [];
  if (from === undefined || from !== fingerprint) return 'forged';
  const rotation = { phase: phase as Phase, from, to: to! };
  return createVault(inForce).isRowSeal(kind, covered(rotation), Buffer.from(mac!, 'hex')) ? rotation : 'forged';
};

/** The keys that a process should hold, or the fingerprint of the key that it lacks. */
export type Wanted = HeldKeys | { readonly missing: string } | 'forged';

export const wantedKeys = (state: KeyState, available: readonly MasterKey[]): Wanted => {
  const find = (fingerprint: string) => available.find(key => key.fingerprint === fingerprint);
  const inForce = find(state.inForce);
  if (inForce === undefined) return { missing: state.inForce };
  const rotation = rotationOf(state, inForce);
  if (rotation === 'forged') return 'forged';
  if (rotation === null) return { current: inForce, other: null, isNext: false };
  const next = find(rotation.to);
  if (next === undefined) return { missing: rotation.to };
  return rotation.phase === 'begun'
    ? { current: next, other: inForce, isNext: true }
    : { current: inForce, other: next, isNext: false };
};
