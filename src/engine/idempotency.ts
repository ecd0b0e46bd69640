import type { Scope } from '../core/environment.ts';
import { errorBody, FlorinError } from '../core/errors.ts';
import type { Queryable } from '../storage/database.ts';
import { claimIdempotencyKey, keepAnswer, readIdempotencyKey, releaseIdempotencyKey } from '../storage/idempotency.ts';
import { answerSealValues, type SealedAnswer } from '../storage/sealedAnswers.ts';
import type { Vault } from '../vault/vault.ts';
import type { Context } from './context.ts';

/** The parts of a request with an Idempotency-Key. */
export type IdempotentRequest = { route: string; key: string; bodyHash: Buffer; requestId: string };

export type Answer = { status: number; body: string; replayed: boolean };

/** `secret`: the body must not be stored in clear. */
export type Result = { body: string; secret?: boolean };

/** What a kept answer with a secret is encrypted for. */
export const answerContext = (scope: Scope, request: Pick<IdempotentRequest, 'route' | 'key'>): string[] => [
  'idempotency',
  scope.accountId,
  scope.environment,
  request.route,
  request.key,
];

export const sealAnswer = (vault: Vault, answer: SealedAnswer): Buffer =>
  vault.rowSeal('idempotency_keys', answerSealValues(answer));

/** The kept answer does not match its seal: somebody changed it in the database. */
export class TamperedAnswer extends Error {}

const assertSealed = ({ vault, log }: Context, { seal, ...answer }: SealedAnswer & { seal: Buffer | null }): void => {
  if (seal !== null && vault.isRowSeal('idempotency_keys', answerSealValues(answer), seal)) return;
  const { accountId, environment, route } = answer;
  log.error({ forged: 'idempotency_keys', accountId, environment, route }, 'a kept answer does not match its seal');
  throw new TamperedAnswer('a kept answer does not match its seal');
};

/** The kept answer of an earlier request with this key, or null. */
export const replay = async (
  context: Context,
  db: Queryable,
  scope: Scope,
  request: IdempotentRequest,
): Promise<Answer | null> => {
  const kept = await readIdempotencyKey(db, scope, request, context.keptHours);
  if (!kept) return null;
  const { status } = kept;
  const { accountId, environment } = scope;
  const { route, key } = request;
  if (status !== null) assertSealed(context, { ...kept, status, accountId, environment, route, key });
  if (!kept.bodyHash.equals(request.bodyHash)) {
    throw new FlorinError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another request body. Use a new key for a new request.',
    );
  }
  if (status === null) throw inProgress();
  const body =
    kept.response ?? context.vault.open(kept.sealedResponse!, answerContext(scope, request)).toString('utf8');
  return { status, body, replayed: true };
};

export const inProgress = (): FlorinError =>
  new FlorinError(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still running. Try again shortly.',
  );

/** Refusals that would be the same if repeated. */
const isKept = (error: unknown): error is FlorinError =>
  error instanceof FlorinError &&
  (error.status === 409 || error.status === 422) &&
  error.code !== 'idempotency_in_progress';

const keep = async (
  context: Context,
  tx: Queryable,
  scope: Scope,
  request: IdempotentRequest,
  heldUntil: Date,
  answer: { status: number; body: string; secret?: boolean },
): Promise<void> => {
  const sealed = answer.secret ? context.vault.seal(answer.body, answerContext(scope, request)) : null;
  const { route, key, bodyHash } = request;
  const kept = { status: answer.status, response: sealed ? null : answer.body, sealedResponse: sealed };
  const { accountId, environment } = scope;
  const seal = sealAnswer(context.vault, { ...kept, accountId, environment, route, key, bodyHash, resourceId: '' });
  await keepAnswer(tx, scope, { route, key, heldUntil }, { ...kept, seal });
};

/** Longer than any call with a key. After a crash the key is free again after this time. */
const holdSeconds = 60;
const claimOf = ({ keptHours }: Context, request: IdempotentRequest) => ({ ...request, holdSeconds, keptHours });

/**
 * Claims the key, works and keeps the answer in one transaction. `work` must refuse before it writes, because a refusal
 * is committed with its key. A concurrent request with the key waits in the claim.
 */
export const idempotently = (
  context: Context,
  scope: Scope,
  request: IdempotentRequest | null,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Answer> =>
  context.db.transaction(async tx => {
    if (!request) return { status: 200, body: (await work(tx)).body, replayed: false };
    const heldUntil = await claimIdempotencyKey(tx, scope, claimOf(context, request));
    if (!heldUntil) {
      const kept = await replay(context, tx, scope, request);
      if (kept) return kept;
      throw inProgress();
    }
    try {
      const result = await work(tx);
      await keep(context, tx, scope, request, heldUntil, { status: 200, ...result });
      return { status: 200, body: result.body, replayed: false };
    } catch (error) {
      if (!isKept(error)) throw error;
      const body = errorBody(error, request.requestId);
      await keep(context, tx, scope, request, heldUntil, { status: error.status, body });
      return { status: error.status, body, replayed: false };
    }
  });

/**
 * For work that makes external calls, during which no transaction may stay open. Claims the key first and records the
 * answer afterwards.
 */
export const idempotentlyHeld = async (
  context: Context,
  scope: Scope,
  request: IdempotentRequest | null,
  work: () => Promise<Result>,
): Promise<Answer> => {
  if (!request) return { status: 200, body: (await work()).body, replayed: false };
  const heldUntil = await claimIdempotencyKey(context.db, scope, claimOf(context, request));
  if (!heldUntil) {
    const kept = await replay(context, context.db, scope, request);
    if (kept) return kept;
    throw inProgress();
  }
  try {
    const result = await work();
    await keep(context, context.db, scope, request, heldUntil, { status: 200, ...result });
    return { status: 200, body: result.body, replayed: false };
  } catch (error) {
    if (isKept(error)) {
      const body = errorBody(error, request.requestId);
      await keep(context, context.db, scope, request, heldUntil, { status: error.status, body });
      return { status: error.status, body, replayed: false };
    }
    await releaseIdempotencyKey(context.db, scope, { route: request.route, key: request.key, heldUntil });
    throw error;
  }
};

/** Keeps a refusal that was found after the work's own transaction had ended. */
export const keepRefusal = async (
  context: Context,
  scope: Scope,
  request: IdempotentRequest,
  error: FlorinError,
): Promise<Answer> => idempotently(context, scope, request, () => Promise.reject(error));
