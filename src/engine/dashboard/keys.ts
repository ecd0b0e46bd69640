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

/** Enough for every server and every person, and a list that can be looked through. */
const maxLiveKeys = 100;

const statusOf = (row: KeyRow, nowMs: number): ApiKey['status'] => {
  if (row.revokedAt) return 'revoked';
  if (row.expiresAt && row.expiresAt.getTime() <= nowMs) return 'expired';
  return row.successorId ? 'rotating' : 'active';
};

const shownKey = (row: KeyRow & { lastUsedAt?: Date | null }, nowMs: number): ApiKey => ({
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

/** With the uses that this process has not written down yet, if they can be: keys are shown, and revoked, without as well. */
export const showKeys = async (context: Context, scope: Scope): Promise<ApiKey[]> => {
  await context.keyUses.flush().catch(error => context.log.warn({ err: error }, 'uses of keys could not be written'));
  const rows = await listShownKeys(context.db, scope);
  const nowMs = context.clock.nowMs();
  return rows.map(row => shownKey(row, nowMs));
};

/** The same answer for a key that is not there and one of somebody else. */
const lockMine = async (tx: Queryable, scope: Scope, id: string): Promise<KeyRow> => {
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
    `There are ${maxLiveKeys} keys in ${scope.environment}, and no more are possible. Revoke one first.`,
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

/** The key is in the answer, and nowhere else, ever. */
export const createShownKey = (
  context: Context,
  acting: Acting,
  request: NewKey,
): Promise<ApiKey & { key: string }> => {
  const { scope } = acting;
  const nowMs = context.clock.nowMs();
  const name = request.name.trim();
  if (name === '') throw invalid('name', 'Give the key a name to know it by.');
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
    return { ...shownKey(row, nowMs), key };
  });
};

export const rotateShownKey = (
  context: Context,
  acting: Acting,
  id: string,
  overlap: keyof typeof rotationOverlaps,
): Promise<ApiKey & { key: string }> => {
  const nowMs = context.clock.nowMs();
  return context.db.transaction(async tx => {
    const old = await lockMine(tx, acting.scope, id);
    if (statusOf(old, nowMs) === 'expired') {
      throw new FlorinError('conflict', 'The key has expired; create a new one instead.');
    }
    await refuseTooMany(tx, acting.scope);
    const { key, ...row } = await replaceKey(context, tx, old, rotationOverlaps[overlap]);
    await recordAction(context, tx, acting, {
      action: 'key.rotated',
      subject: id,
      detail: { name: old.name, successorId: row.id, hint: row.hint, overlap },
    });
    return { ...shownKey(row, nowMs), key };
  });
};

/** Refused by the API within a second. Ending a key twice changes nothing the second time. */
export const revokeShownKey = (context: Context, acting: Acting, id: string): Promise<ApiKey> =>
  context.db.transaction(async tx => {
    const before = await lockMine(tx, acting.scope, id);
    const row = (await revokeKey(tx, id))!;
    if (!before.revokedAt) {
      const { name, hint } = row;
      await recordAction(context, tx, acting, { action: 'key.revoked', subject: id, detail: { name, hint } });
    }
    return shownKey(row, context.clock.nowMs());
  });
