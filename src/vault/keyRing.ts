import { FlorinError } from '../core/errors.ts';
import type { MasterKey } from './masterKey.ts';
import { createVault, SealBroken, type Vault } from './vault.ts';

/** The keys of a process. */
export type HeldKeys = {
  readonly current: MasterKey;
  /** The second key while the master key is being rotated. */
  readonly other: MasterKey | null;
  /** Whether `current` is the key that a rotation goes to. */
  readonly isNext: boolean;
};

/**
 * Why a process must not use its keys; null if it may. `unknown`: others may have values of a key that it lacks. `outdated`:
 * others may have written what it would misread.
 */
export type Hindrance = 'unknown' | 'stale' | 'outdated' | null;

/** A vault whose keys change while it is in use. */
export type KeyRing = {
  /** Makes values with the current key, and accepts those of either key. */
  readonly vault: Vault;
  held(): HeldKeys;
  hold(keys: HeldKeys): void;
  /** Asked before a value is made, and when one does not verify. */
  guard(hindrance: () => Hindrance): void;
};

const unavailable = (hindrance: Hindrance): FlorinError =>
  new FlorinError(
    'service_unavailable',
    hindrance === 'outdated'
      ? 'The service was upgraded, and this process of the version before is stopping.'
      : 'The master key is being replaced and this process does not have the next one.',
  );
/** A value that does not verify may still be right. */
const mayBeRight = (hindrance: Hindrance): boolean => hindrance === 'unknown' || hindrance === 'outdated';

/** The parts of a vault whose results are stored, and must be made with the right key. */
type Maker = 'paymentMac' | 'walletMac' | 'walletVersionMac' | 'auditHash' | 'rowSeal' | 'recoveryHash' | 'seal';

export const createKeyRing = (keys: HeldKeys): KeyRing => {
  let held = keys;
  let hindrance: () => Hindrance = () => null;
  let current = createVault(keys.current);
  let other = keys.other && createVault(keys.other);

  const maker = (): Vault => {
    const why = hindrance();
    if (why !== null) throw unavailable(why);
    return current;
  };
  const make =
    <N extends Maker>(name: N) =>
    (...values: Parameters<Vault[N]>): Buffer =>
      (maker()[name] as (...given: Parameters<Vault[N]>) => Buffer)(...values);
  const either = (isRight: (vault: Vault) => boolean): boolean => {
    if (isRight(current) || (other !== null && isRight(other))) return true;
    // It may be right under a key or by a rule that this process lacks. To call it forged would end keys and sessions.
    const why = hindrance();
    if (mayBeRight(why)) throw unavailable(why);
    return false;
  };
  const open: Vault['open'] = (sealed, context) => {
    try {
      return current.open(sealed, context);
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      if (other !== null) return other.open(sealed, context);
      const why = hindrance();
      throw mayBeRight(why) ? unavailable(why) : error;
    }
  };

  const vault: Vault = {
    maker,
    salt: (scope, index) => current.salt(scope, index),
    paymentMac: make('paymentMac'),
    verifyPaymentMac: (fields, mac) => either(each => each.verifyPaymentMac(fields, mac)),
    walletMac: make('walletMac'),
    verifyWalletMac: (fields, mac) => either(each => each.verifyWalletMac(fields, mac)),
    walletVersionMac: make('walletVersionMac'),
    verifyWalletVersionMac: (fields, mac) => either(each => each.verifyWalletVersionMac(fields, mac)),
    recoveryHash: make('recoveryHash'),
    isRecoveryHash: hash => current.isRecoveryHash(hash),
    auditHash: make('auditHash'),
    verifyAuditHash: (fields, hash) => either(each => each.verifyAuditHash(fields, hash)),
    deploymentName: () => current.deploymentName(),
    limitSubject: subject => current.limitSubject(subject),
    rowSeal: make('rowSeal'),
    isRowSeal: (kind, values, seal) => either(each => each.isRowSeal(kind, values, seal)),
    deviceSubject: email => current.deviceSubject(email),
    deviceMac: (subject, id) => current.deviceMac(subject, id),
    verifyDeviceMac: (subject, id, mac) => either(each => each.verifyDeviceMac(subject, id, mac)),
    simulateToken: id => current.simulateToken(id),
    verifySimulateToken: (id, token) => either(each => each.verifySimulateToken(id, token)),
    alertSecret: () => current.alertSecret(),
    seal: make('seal'),
    open,
  };
  return {
    vault,
    held: () => held,
    hold(next) {
      held = next;
      current = createVault(next.current);
      other = next.other && createVault(next.other);
    },
    guard(given) {
      hindrance = given;
    },
  };
};
