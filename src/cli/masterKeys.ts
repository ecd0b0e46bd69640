import type { Log } from '../core/log.ts';
import { createKeyFollower } from '../engine/keys/followKeys.ts';
import { wantedKeys } from '../engine/keys/rotationMark.ts';
import type { ReleaseGate } from '../engine/releaseGate.ts';
import type { Database } from '../storage/database.ts';
import { claimDeploymentValue, readDeploymentValue } from '../storage/deployment.ts';
import { noteHolderGone, readKeyState } from '../storage/keys/keyState.ts';
import { createKeyRing, type KeyRing } from '../vault/keyRing.ts';
import { type LoadedMasterKey, loadMasterKey, loadNextKey, nextKeyPath, promoteNextKey } from '../vault/masterKey.ts';
import { type Loop, startLoop } from '../workers/loop.ts';
import { type Config, ConfigError } from './config.ts';

type Keys = { readonly master: LoadedMasterKey; readonly next: LoadedMasterKey | null };

/** The master key, and the one that a rotation goes to, as far as this process can read them. */
export const loadKeys = async (
  { dataDir, masterKey, nextMasterKey }: Config,
  { mayCreate = false }: { readonly mayCreate?: boolean } = {},
): Promise<Keys> => ({
  master: await loadMasterKey({ dataDir, setting: masterKey ?? undefined, mayCreate }),
  next: await loadNextKey({ dataDir, setting: nextMasterKey ?? undefined }),
});

const missingNext = ({ dataDir }: Pick<Config, 'dataDir'>): ConfigError =>
  new ConfigError([
    `The master key is being replaced, and this process does not have the next one. Copy keys/master.next from the data directory where florin rotate master-key runs to ${nextKeyPath(dataDir)}, or set FLORIN_NEXT_MASTER_KEY.`,
  ]);

/** After a rotation, the next key becomes that of this data directory. Returns what is left to do by hand. */
export const settleKeys = async (config: Config, inForce: string, log: Log): Promise<string | null> => {
  const { master, next } = await loadKeys(config);
  if (master.fingerprint === inForce) return null;
  if (master.source === 'setting' || next?.source === 'setting') {
    log.warn({}, 'the master key was replaced: change FLORIN_MASTER_KEY before the next start');
    return next?.source === 'setting'
      ? 'Set FLORIN_MASTER_KEY to the value of FLORIN_NEXT_MASTER_KEY, and remove FLORIN_NEXT_MASTER_KEY.'
      : `Set FLORIN_MASTER_KEY to the content of ${nextKeyPath(config.dataDir)}, then delete that file.`;
  }
  if (await promoteNextKey(config.dataDir, inForce, new Date())) log.info({}, 'the next master key is in keys/master');
  return null;
};

/** The vault with the keys that this database needs. Fails if this process lacks one. */
export const openKeys = async (config: Config, db: Database, log: Log): Promise<KeyRing> => {
  const isNew = (await readDeploymentValue(db, 'master_key_fingerprint')) === null;
  const { master, next } = await loadKeys(config, { mayCreate: isNew });
  await claimDeploymentValue(db, 'master_key_fingerprint', master.fingerprint);
  const state = await readKeyState(db);
  const available = next === null ? [master] : [master, next];
  const wanted = wantedKeys(state, available);
  if (wanted === 'forged') {
    log.error(
      { forged: 'deployment', name: 'master_key_rotation' },
      'the mark of a key rotation was changed in the database',
    );
    const inForce = available.find(key => key.fingerprint === state.inForce)!;
    return createKeyRing({ current: inForce, other: null, isNext: false });
  }
  if (!('missing' in wanted)) {
    // An earlier run may have ended between the database and the file.
    await settleKeys(config, state.inForce, log);
    return createKeyRing(wanted);
  }
  if (wanted.missing !== state.inForce) throw missingNext(config);
  throw new ConfigError([
    'The master key does not match this database. Restore keys/master or FLORIN_MASTER_KEY. No address or secret can be verified with another key.',
  ]);
};

const askedEveryMs = 1_000;

/** Follows rotations of the master key while this process runs. */
export const startKeyWatch = (
  config: Config,
  parts: {
    readonly db: Database;
    readonly ring: KeyRing;
    readonly holder: string;
    readonly gate: ReleaseGate;
    readonly log: Log;
    readonly monotonicMs: () => number;
  },
): Loop => {
  const { db, holder, log } = parts;
  const follow = createKeyFollower({
    ...parts,
    roles: config.roles,
    async load() {
      const { master, next } = await loadKeys(config);
      return next === null ? [master] : [master, next];
    },
    onOver: async fingerprint => void (await settleKeys(config, fingerprint, log)),
  });
  const work = async (): Promise<boolean> => {
    await follow();
    return false;
  };
  const loop = startLoop({ name: 'master key', intervalMs: askedEveryMs, log, work });
  return {
    async stop() {
      await loop.stop();
      // Without this, a rotation waits half a minute for this process.
      await noteHolderGone(db, holder).catch(error =>
        log.warn({ err: error }, 'the end of this process was not noted'),
      );
    },
  };
};
