import type { Permission } from '../../src/core/access/rights.ts';
import type { Environment, Scope } from '../../src/core/environment.ts';
import type { AdminContext } from '../../src/engine/access/accounts.ts';
import * as keys from '../../src/engine/access/keys.ts';
import { changeSettings, type SettingsChange } from '../../src/engine/access/settings.ts';
import { operatorActing } from '../../src/engine/audit/acting.ts';
import { perform } from '../../src/engine/perform.ts';
import * as wallets from '../../src/engine/wallets/setWallet.ts';
import type { Destination, GivenDestination } from '../../src/engine/wallets/treasury.ts';
import type { KeyRow } from '../../src/storage/access/keys.ts';

/** What the operator does at the command line. */

export type MadeKey = {
  readonly accountId: string;
  readonly environment: Environment;
  readonly name: string;
  readonly scopes: readonly Permission[];
  readonly ipAllow: readonly string[] | null;
  readonly expiresAt: Date | null;
};

export const createKey = (admin: AdminContext, { accountId, environment, ...request }: MadeKey): Promise<keys.NewKey> =>
  perform(admin, operatorActing({ accountId, environment }), null, keys.createKey(admin, request, null));

export const rotateKey = async (admin: AdminContext, id: string, overlap: keys.RotationOverlap): Promise<keys.NewKey> =>
  perform(admin, operatorActing(await keys.findKey(admin, id)), null, keys.rotateKey(admin, id, overlap, null));

export const endKey = async (admin: AdminContext, id: string): Promise<KeyRow> =>
  perform(admin, operatorActing(await keys.findKey(admin, id)), null, keys.endKey(id));

export const makeSettings = (admin: AdminContext, scope: Scope, change: SettingsChange) =>
  perform(admin, operatorActing(scope), null, changeSettings(change));

export const setWallet = (
  admin: AdminContext,
  scope: Scope,
  network: string,
  given: GivenDestination,
): Promise<Destination> => perform(admin, operatorActing(scope), null, wallets.setWallet(admin, network, given));
