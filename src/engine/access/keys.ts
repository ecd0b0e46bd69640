import { grantable, type Permission, type Role } from '../../core/access/rights.ts';
import { readAddressBlock } from '../../core/addressBlock.ts';
import type { ApiKey } from '../../core/api/setupApi.ts';
import type { Scope } from '../../core/environment.ts';
import { FlorinError, invalid } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import {
  countLiveKeys,
  insertKey,
  type KeyRow,
  listShownKeys,
  lockKey,
  readKey,
  revokeKey,
  succeedKey,
} from '../../storage/access/keys.ts';
import type { Queryable } from '../../storage/database.ts';
import { generateApiKey } from '../../vault/apiKeys.ts';
import type { Acting } from '../audit/acting.ts';
import type { Context } from '../context.ts';
import type { Work } from '../perform.ts';

/** Enough for every server and person, and still a list that people can read. */
const maxLiveKeys = 100;

/** How long, in seconds, a rotated key works beside its successor. */
export const rotationOverlaps = { '0': 0, '1h': 3_600, '24h': 86_400, '7d': 604_800 } as const;
export type RotationOverlap = keyof typeof rotationOverlaps;

type KeyContext = Pick<Context, 'clock' | 'ids'>;
/** The key itself is available only when it is created. The database has its hash. */
export type NewKey = KeyRow & { readonly key: string };

const statusOf = (row: KeyRow, nowMs: number): ApiKey['status'] => {
  if (row.revokedAt) return 'revoked';
  if (row.expiresAt && row.expiresAt.getTime() <= nowMs) return 'expired';
  return row.successorId ? 'rotating' : 'active';
};

export const keyObject = (row: KeyRow & { lastUsedAt?: Date | null }, nowMs: number): ApiKey => ({
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

/** For the operator, who names a key by its id alone. */
export const findKey = async ({ db }: Pick<Context, 'db'>, id: string): Promise<KeyRow> => {
  const row = await readKey(db, id);
  if (!row) throw new FlorinError('not_found', `No key has the id ${id}.`);
  return row;
};

/** A key may do no more than the person who asks for it, also one that replaces another. */
const refuseBeyond = (role: Role | null, scopes: readonly Permission[]): void => {
  if (role === null) return;
  const refused = scopes.find(scope => !grantable(role).includes(scope));
  if (refused === undefined) return;
  throw new FlorinError('permission_denied', `Your role, ${role}, cannot make a key with ${refused}.`, 'scopes');
};

export type KeyRequest = {
  readonly name: string;
  readonly scopes: readonly Permission[];
  readonly ipAllow?: readonly string[] | null;
  readonly expiresAt?: Date | null;
};

const addKey = async (
  context: KeyContext,
  tx: Queryable,
  { scope, actor }: Acting,
  request: KeyRequest,
): Promise<NewKey> => {
  const { accountId, environment } = scope;
  await refuseTooMany(tx, scope);
  const { key, hash, hint } = generateApiKey(environment);
  const { id, ms } = context.ids.next('key', context.clock.nowMs());
  const row = await insertKey(tx, {
    accountId,
    environment,
    id,
    hash,
    hint,
    name: request.name,
    scopes: [...new Set(request.scopes)],
    ipAllow: request.ipAllow?.length ? [...new Set(request.ipAllow)] : null,
    createdAt: new Date(ms),
    expiresAt: request.expiresAt ?? null,
    createdBy: actor.kind === 'person' ? actor.id : null,
  });
  return { ...row, key };
};

/** `role`: of the person who asks; null for the operator and for Florin itself. */
export const createKey =
  (context: KeyContext, request: KeyRequest, role: Role | null): Work<NewKey> =>
  async (tx, acting) => {
    const refused = request.ipAllow?.find(block => readAddressBlock(block) === null);
    if (refused !== undefined) throw invalid('ipAllow', `${refused} is not an IP address or a CIDR block.`);
    refuseBeyond(role, request.scopes);
    const row = await addKey(context, tx, acting, request);
    const { name, hint, scopes, ipAllow } = row;
    const detail = { name, hint, scopes, ipAllow, expiresAt: row.expiresAt?.toISOString() ?? null };
    return { value: row, deed: { action: 'key.created', subject: row.id, detail } };
  };

/** The successor has the same rights. */
export const rotateKey =
  (context: KeyContext, id: string, overlap: RotationOverlap, role: Role | null): Work<NewKey> =>
  async (tx, acting) => {
    const old = await lockOwnKey(tx, acting.scope, id);
    const refuse = (why: string): never => {
      throw new FlorinError('conflict', why);
    };
    const status = statusOf(old, context.clock.nowMs());
    if (status === 'expired' || status === 'revoked') refuse(`The key is ${status}. Create a new key instead.`);
    if (old.successorId) refuse(`The key was already rotated. Its successor is ${old.successorId}.`);
    refuseBeyond(role, old.scopes);
    const row = await addKey(context, tx, acting, old);
    await succeedKey(tx, old.id, row.id, rotationOverlaps[overlap]);
    const detail = { name: old.name, successorId: row.id, hint: row.hint, overlap };
    return { value: row, deed: { action: 'key.rotated', subject: id, detail } };
  };

/** The API refuses the key within a second. Revoking it again changes nothing. */
export const endKey =
  (id: string): Work<KeyRow> =>
  async (tx, { scope }) => {
    const before = await lockOwnKey(tx, scope, id);
    const row = (await revokeKey(tx, id))!;
    const { name, hint } = row;
    const deed = before.revokedAt ? null : ({ action: 'key.revoked', subject: id, detail: { name, hint } } as const);
    return { value: row, deed };
  };
