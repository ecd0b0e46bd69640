import type { Environment } from '../../core/environment.ts';
import { FlorinError } from '../../core/errors.ts';
import { readStanding } from '../../storage/access/standing.ts';
import type { Context } from '../context.ts';
import type { SignedInPerson } from './sessions.ts';

/**
 * What a sensitive call concerns. `environment`: one environment, and production needs a second factor. `account`: the
 * account as a whole, which needs one as soon as the account is used in production. `own`: the person's own sign-in, which needs
 * one if the person has one; otherwise nobody could add the first. `review`: of a restore, which needs one in either case,
 * because what was live may be revoked before production is opened.
 */
export type StepUp = 'environment' | 'account' | 'own' | 'review';

export type MissingProof = {
  /** `second-factor`: a password alone is not enough. */
  readonly kind: 'any' | 'second-factor';
  readonly hasSecondFactor: boolean;
};

/** The proof that the person must give before this call, or null. */
export const proofNeeded = async (
  context: Pick<Context, 'db'>,
  person: SignedInPerson,
  stepUp: StepUp,
  environment: Environment,
): Promise<MissingProof | null> => {
  if (person.stronglyProvenUntil) return null;
  const standing = await readStanding(context.db, person);
  if (standing === null) throw new FlorinError('unauthorized', 'Your session has ended. Sign in again.');
  const { hasSecondFactor, isLive } = standing;
  const isStrong = {
    environment: environment === 'production',
    account: isLive,
    own: hasSecondFactor,
    review: isLive || hasSecondFactor,
  }[stepUp];
  if (isStrong) return { kind: 'second-factor', hasSecondFactor };
  return person.provenUntil ? null : { kind: 'any', hasSecondFactor };
};
