import type { ApiKey } from '../../core/dashboard/setupApi.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import type { Permission } from '../../core/permissions.ts';
import type { Queryable } from '../../storage/database.ts';
import { countLiveKeys, type KeyRow, listShownKeys, lockKey, revokeKey } from '../../storage/keys.ts';
import { addKey, replaceKey, rotationOverlaps } from '../accounts.ts';
import type { Context } from '../context.ts';
import { type Acting, recordAction } from './acting.ts';

/** Enough for every server and person, and still a list that people can read. */
const maxLiveKeys = 100;

const statusOf = (row: KeyRow, nowMs: number): ApiKey['status'] => {
  if (row.revokedAt) return 'revoked';
  if (row.expiresAt && row.expiresAt.getTime() <= nowMs) return 'expired';
  return row.successorId ? 'rotating' : 'active';
};

const keyObject = (row: KeyRow & { lastUsedAt?: Date | null }, nowMs: number): ApiKey => ({
  id: row.id,
  name: row.name,
  hint: row.hint,
  scopes: row.scopes,
  ipAllow: row.ipAllow,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt?.toISOString() ?? null,
  revokedAt: row.revokedAt?.toISOString() ?? null,
  successorId: row.successorId,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  status: statusOf(row, nowMs),
});

/** Writes this process's pending key uses first. If that fails, the keys are listed without them. */
export const listKeys = async (context: Context, scope: Scope): Promise<ApiKey[]> => {
  await context.keyUses.flush().catch(error => context.log.warn({ err: error }, 'key uses could not be written'));
  const rows = await listShownKeys(context.db, scope);
  const nowMs = context.clock.nowMs();
  return rows.map(row => keyObject(row, nowMs));
};

/** Gives the same error for an unknown key and for another account's key. */
const lockOwnKey = async (tx: Queryable, scope: Scope, id: string): Promise<KeyRow> => {
  const row = isId('key', id) ? await lockKey(tx, id) : null;
  if (row?.accountId !== scope.accountId || row.environment !== scope.environment) {
    throw new FlorinError('not_found', 'No key has this id.');
  }
  return row;
};

const refuseTooMany = async (tx: Queryable, scope: Scope): Promise<void> => {
  if ((await countLiveKeys(tx, scope)) < maxLiveKeys) return;
  throw new FlorinError(
    'conflict',
    `The ${scope.environment} environment already has the maximum of ${maxLiveKeys} keys. Revoke one first.`,
  );
};

const expiryOf = (text: string | null | undefined, nowMs: number): Date | null => {
  if (text === null || text === undefined) return null;
  const expiresAt = new Date(text);
  if (Number.isNaN(expiresAt.getTime())) throw invalid('expiresAt', 'expiresAt must be an ISO 8601 time.');
  if (expiresAt.getTime() <= nowMs) throw invalid('expiresAt', 'expiresAt must be in the future.');
  return expiresAt;
};

export type NewKey = {
  name: string;
  scopes: Permission[];
  ipAllow?: string[] | null;
  expiresAt?: string | null;
};

/** The key itself is only in this response; the database has its hash. */
export const createKeyAs = (context: Context, acting: Acting, request: NewKey): Promise<ApiKey & { key: string }> => {
  const { scope } = acting;
  const nowMs = context.clock.nowMs();
  const name = request.name.trim();
  if (name === '') throw invalid('name', 'Enter a name for the key.');
  const expiresAt = expiryOf(request.expiresAt, nowMs);
  const ipAllow = request.ipAllow?.length ? [...new Set(request.ipAllow)] : null;
  const scopes = [...new Set(request.scopes)];
  return context.db.transaction(async tx => {
    await refuseTooMany(tx, scope);
    const { key, ...row } = await addKey(context, tx, { ...scope, name, scopes, ipAllow, expiresAt });
    await recordAction(context, tx, acting, {
      action: 'key.created',
      subject: row.id,
      detail: { name, hint: row.hint, scopes, ipAllow: row.ipAllow, expiresAt: expiresAt?.toISOString() ?? null },
    });
    return { ...keyObject(row, nowMs), key };
  });
};

export const rotateKeyAs = (
  context: Context,
  acting: Acting,
  id: string,
  overlap: keyof typeof rotationOverlaps,
): Promise<ApiKey & { key: string }> => {
  const nowMs = context.clock.nowMs();
  return context.db.transaction(async tx => {
    const old = await lockOwnKey(tx, acting.scope, id);
    if (statusOf(old, nowMs) === 'expired') {
      throw new FlorinError('conflict', 'The key has expired. Create a new key instead.');
    }
    await refuseTooMany(tx, acting.scope);
    const { key, ...row } = await replaceKey(context, tx, old, rotationOverlaps[overlap]);
    await recordAction(context, tx, acting, {
      action: 'key.rotated',
      subject: id,
      detail: { name: old.name, successorId: row.id, hint: row.hint, overlap },
    });
    return { ...keyObject(row, nowMs), key };
  });
};

/** The API refuses the key within a second. Revoking it again changes nothing. */
export const revokeKeyAs = (context: Context, acting: Acting, id: string): Promise<ApiKey> =>
  context.db.transaction(async tx => {
    const before = await lockOwnKey(tx, acting.scope, id);
    const row = (await revokeKey(tx, id))!;
    if (!before.revokedAt) {
      const { name, hint } = row;
      await recordAction(context, tx, acting, { action: 'key.revoked', subject: id, detail: { name, hint } });
    }
    return keyObject(row, context.clock.nowMs());
  });
